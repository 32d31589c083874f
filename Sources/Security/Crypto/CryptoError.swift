import COpenSSL

/// Why a key, a certificate or a signature could not be made or read.
public struct CryptoError: Error, Hashable, Sendable {
  /// The class of the fault, for callers that act on it.
  public enum Kind: Hashable, Sendable {
    /// The text is not PEM of the kind that was asked for.
    case unreadable
    /// The key is protected by a passphrase, which nobody is there to type.
    case encrypted
    /// It was read, but it is not a P-256 key.
    case wrongKind
    /// An argument cannot stand in a certificate or token.
    case badArgument
    /// OpenSSL refused an operation that only lacks memory or entropy to succeed.
    case failed
  }

  /// The class of the fault.
  public var kind: Kind
  /// One sentence for a person: what is wrong, and what would be right.
  public var message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// A fault of the library itself, with its own words; empties this thread's OpenSSL error queue.
  static func library(_ action: String) -> CryptoError {
    CryptoError(.failed, "OpenSSL cannot \(action): \(takeReason() ?? "no reason given")")
  }

  /// The newest reason in this thread's OpenSSL error queue, which is emptied.
  static func takeReason() -> String? {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0, let text = ERR_reason_error_string(code) else { return nil }
    return String(cString: text)
  }
}

extension CryptoError: CustomStringConvertible {
  /// The sentence.
  public var description: String { message }
}
