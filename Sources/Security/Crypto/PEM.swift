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
    if !bytes.isEmpty { BIO_write(bio, bytes, Int32(bytes.count)) }
    return try body(bio)
  }

  /// What `body` writes to a BIO, as text.
  static func writing(_ action: String, _ body: (OpaquePointer) -> Int32) throws(CryptoError) -> String {
    guard let bio = BIO_new(BIO_s_mem()) else { throw .library(action) }
    defer { BIO_free(bio) }
    guard body(bio) == 1 else { throw .library(action) }
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(bio))
    let count = BIO_read(bio, &bytes, Int32(bytes.count))
    return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
  }
}

/// Answers OpenSSL's question for a passphrase with none, where it would otherwise ask on the terminal.
///
/// The last parameter points to a `Bool` that learns that there was a question.
func answerNoPassphrase(_: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _ asked: UnsafeMutableRawPointer?) -> Int32 {
  asked?.assumingMemoryBound(to: Bool.self).pointee = true
  return -1
}
