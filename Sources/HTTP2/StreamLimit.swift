/// How many streams a client may have open at once, and what it was told of it.
///
/// nghttp2 is told of a limit that nobody reaches: with its own it ends the connection of a client that opens one stream
/// too many, where Apple's servers refuse the stream (apns.md section 1.3). The number that the client gets to read stands
/// in the same setting, below `mark`, which is taken out when the frame is serialised.
struct StreamLimit {
  /// What is added to the number in nghttp2's hands; the number itself is less.
  static let mark: UInt32 = 1 << 24

  /// What the client was last told.
  private(set) var announced: Int
  /// Streams it may have open: until it has acknowledged a lower number, it may go by a higher one.
  private(set) var allowed: Int
  /// SETTINGS of ours that it has not acknowledged.
  private var unacknowledged = 1

  /// The limit of the first SETTINGS. It holds at once: what a client sends before it has read them is refused, and it may
  /// try again.
  init(announced: Int) {
    precondition(announced >= 0 && announced < Self.mark)
    self.announced = announced
    allowed = announced
  }

  /// The client is told another number.
  mutating func announce(_ number: Int) {
    precondition(number >= 0 && number < Self.mark)
    announced = number
    allowed = max(allowed, number)
    unacknowledged += 1
  }

  /// The client has acknowledged the oldest SETTINGS that it had not.
  mutating func acknowledge() {
    unacknowledged -= 1
    if unacknowledged == 0 { allowed = announced }
  }

  /// Takes the mark out of a serialised SETTINGS frame.
  static func unmark(_ frame: UnsafePointer<UInt8>, _ count: Int) {
    let bytes = UnsafeMutablePointer(mutating: frame)
    // After the frame's head, each setting has an identifier of two bytes and a value of four (RFC 9113 section 6.5.1).
    for start in stride(from: 9, to: count - 5, by: 6) where bytes[start] == 0 && bytes[start + 1] == 3 {
      bytes[start + 2] &= ~UInt8(mark >> 24)
    }
  }
}
