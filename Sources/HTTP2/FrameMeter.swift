import Primitives

/// Measures what a client sends, frame by frame, ahead of nghttp2, which does not tell of the frames that it passes over.
///
/// It knows where frames begin and what their heads say (RFC 9113 section 4.1), and nothing else: counting costs some instructions
/// a frame, and needs no clock.
///
/// It also remembers which streams the client has ended, by END_STREAM or RST_STREAM, the latest 64 of them: DATA and HEADERS that come
/// on those afterwards are its fault, whatever this side has done with the stream (RFC 9113 section 5.1). Streams that this side has reset
/// are another matter: what comes on them may have been on its way.
struct FrameMeter {
  /// What some bytes were.
  struct Tally: Equatable {
    /// Frames that began.
    var frames = 0
    /// Bytes of header blocks, each of which may stand for a field; those of blocks that no list can have count four times.
    var headerBytes = 0
    /// Frames that bring nothing, long ones counted as several.
    var idle = 0
    /// The most CONTINUATION frames that one header list has had so far.
    var continuations = 0
  }

  /// Bytes of content with which a DATA frame counts as one that brings something; the last of a body always does.
  private static let dataBytesMin = 64
  /// Bytes of padding that a frame may have, its length included.
  private static let paddingMax = 256

  private let headerListBytesMax: Int
  /// Bytes of the present frame that are still to come; the preface counts as one.
  private var rest = Preface.count
  /// What a byte of the present frame counts as, of a header block.
  private var headerWeight = 0
  private var continuations = 0
  /// A head that came in parts.
  private var head = InlineArray<9, UInt8>(repeating: 0)
  private var headCount = 0

  /// Streams that the client has ended, each at the place that its number gives it.
  private var ended = InlineArray<64, Int32>(repeating: 0)
  /// Streams that the client has gone on with although it had ended them, since this was last asked.
  private var closed: [Int32] = []
  /// The most that are told at a time; a client gets no more answers than that for what it sends at once.
  private static let closedMax = 16

  /// A meter for a connection of which nothing has come, with header lists of at most `headerListBytesMax` bytes.
  init(headerListBytesMax: Int) { self.headerListBytesMax = headerListBytesMax }

  /// Whether frames have come on streams that the client had ended.
  var hasClosed: Bool { !closed.isEmpty }

  /// Those streams, each once, as far as they are to be answered.
  mutating func takeClosed() -> [Int32] {
    defer { closed = [] }
    return closed
  }

  /// Measures the next bytes.
  mutating func measure(_ bytes: RawSpan) -> Tally {
    var tally = Tally()
    bytes.withUnsafeBytes { buffer in
      var place = 0
      while place < buffer.count {
        if rest > 0 {
          let length = min(rest, buffer.count - place)
          tally.headerBytes += length * headerWeight
          rest -= length
          place += length
        } else if headCount == 0, buffer.count - place >= 9 {
          begin(buffer.baseAddress! + place, &tally)
          place += 9
        } else {
          head[headCount] = buffer[place]
          headCount += 1
          place += 1
          if headCount == 9 { beginParted(&tally) }
        }
      }
    }
    return tally
  }

  private mutating func beginParted(_ tally: inout Tally) {
    headCount = 0
    let whole = head
    whole.span.withUnsafeBytes { begin($0.baseAddress!, &tally) }
  }

  /// A frame begins with the head at `head`.
  @inline(__always) private mutating func begin(_ head: UnsafeRawPointer, _ tally: inout Tally) {
    let bytes = head.assumingMemoryBound(to: UInt8.self)
    let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
    rest = length
    tally.frames += 1
    let (kind, flags) = (bytes[3], bytes[4])
    headerWeight = kind == Self.headers || kind == Self.continuation ? length > headerListBytesMax ? 4 : 1 : 0
    if kind == Self.continuation {
      continuations += 1
      tally.continuations = max(tally.continuations, continuations)
    } else {
      continuations = 0
    }
    switch kind {
    case Self.data, Self.headers, Self.reset: follow(bytes, kind, endsStream: flags & Self.endStream != 0, &tally)
    default: break
    }
    switch kind {
    case Self.data:
      let padding = flags & Self.padded == 0 ? 0 : Self.paddingMax
      if flags & Self.endStream == 0, length < Self.dataBytesMin + padding { tally.idle += 1 }
    case Self.headers:
      // No list that is taken has so long a block.
      if length > headerListBytesMax { tally.idle += length / 16 }
    default: tally.idle += 1 + length / 256
    }
  }

  /// Remembers the end of a stream, and finds what comes after it.
  @inline(__always) private mutating func follow(
    _ head: UnsafePointer<UInt8>, _ kind: UInt8, endsStream: Bool, _ tally: inout Tally
  ) {
    let number = UInt32(head[5]) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])
    let stream = Int32(bitPattern: number & 0x7fff_ffff)
    let place = Int(stream >> 1) & 63
    if kind == Self.reset {
      ended[place] = stream
    } else if ended[place] == stream, stream > 0 {
      tally.idle += Self.idleOfClosed
      if closed.count < Self.closedMax, !closed.contains(stream) { closed.append(stream) }
    } else if endsStream {
      ended[place] = stream
    }
  }

  /// What a frame on a stream that the client had ended counts as: it has an answer.
  private static let idleOfClosed = 2

  // Types and flags of RFC 9113 section 6.
  private static let data: UInt8 = 0
  private static let headers: UInt8 = 1
  private static let reset: UInt8 = 3
  private static let continuation: UInt8 = 9
  private static let endStream: UInt8 = 1
  private static let padded: UInt8 = 8
}
