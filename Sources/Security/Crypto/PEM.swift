import COpenSSL

/// PEM text (RFC 7468) to and from OpenSSL objects, through memory BIOs.
enum PEM {
  /// Runs `body` on a BIO that reads `text`.
  static func reading<Value, Failure: Error>(
    _ text: some StringProtocol, _ body: (OpaquePointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let bytes = Array(text.utf8)
    guard let bio = BIO_new(BIO_s_mem()) else { preconditionFailure("OpenSSL has no memory for a BIO") }
    defer { BIO_free(bio) }
    let isWritten = bytes.isEmpty || BIO_write(bio, bytes, Int32(bytes.count)) == Int32(bytes.count)
    precondition(isWritten, "OpenSSL has no memory for PEM text")
    return try body(bio)
  }

  /// Gives every block of a kind in `text` to `take`, which owns it; blocks of other kinds are passed over.
  ///
  /// - Parameters:
  ///   - kind: What a block is, for people.
  ///   - next: Reads the next one: nil at the end of the text, and where one is damaged.
  /// - Returns: How many there were.
  /// - Throws: Which block is damaged: one that is passed over would be missed by nobody until it is needed.
  static func readingAll(
    _ text: String, _ kind: String, _ next: (OpaquePointer) -> OpaquePointer?, _ take: (OpaquePointer) throws(CryptoError) -> Void
  ) throws(CryptoError) -> Int {
    try reading(text) { bio throws(CryptoError) in
      var count = 0
      ERR_clear_error()
      while let block = next(bio) {
        try take(block)
        count += 1
      }
      let code = ERR_peek_last_error()
      let isAtEnd = code == 0 || ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE
      let reason = CryptoError.takeReason()
      guard isAtEnd else {
        throw CryptoError(.unreadable, "\(kind) \(count + 1) of the PEM text is damaged (\(reason ?? "no reason given"))")
      }
      return count
    }
  }

  /// What `body` writes to a BIO, as text.
  static func writing(_ action: String, _ body: (OpaquePointer) -> Int32) throws(CryptoError) -> String {
    guard let bio = BIO_new(BIO_s_mem()) else { throw .library(action) }
    defer { BIO_free(bio) }
    guard body(bio) == 1 else { throw .library(action) }
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(bio))
    guard BIO_read(bio, &bytes, Int32(bytes.count)) == Int32(bytes.count) else { throw .library(action) }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Answers OpenSSL's question for a passphrase with none, where it would otherwise ask on the terminal.
///
/// The last parameter points to a `Bool` that learns that there was a question.
func answerNoPassphrase(_: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _ asked: UnsafeMutableRawPointer?) -> Int32 {
  asked?.assumingMemoryBound(to: Bool.self).pointee = true
  return -1
}
