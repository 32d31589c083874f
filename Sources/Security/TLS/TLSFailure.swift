import COpenSSL

/// Why a TLS connection ended, told apart by what somebody has to do about it.
public struct TLSFailure: Error, Hashable, Sendable {
  /// The class of the fault.
  public enum Kind: Hashable, Sendable {
    /// The peer speaks plain HTTP to this TLS port.
    case plainHTTP
    /// The peer's bytes are not TLS at all.
    case notTLS
    /// Nothing but versions below TLS 1.2 is offered.
    case versionTooOld
    /// No cipher suite in common.
    case noCommonCipher
    /// The peer does not accept our certificate; the alert's number (RFC 8446 section 6.2).
    case certificateRejected(alert: UInt8)
    /// Another fatal alert of the peer.
    case alert(UInt8)
    /// The peer's certificate leads to no authority that we trust.
    case certificateUntrusted
    /// The server's certificate names other hosts.
    case certificateNamesAnotherHost
    /// The peer's certificate is not valid at present.
    case certificateExpired
    /// The peer's certificate was revoked by its authority.
    case certificateRevoked
    /// The peer broke the protocol, or its bytes were changed on the way.
    case protocolViolation
  }

  /// The class of the fault.
  public let kind: Kind
  /// One sentence for a person: what happened.
  public let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }
}

extension TLSFailure: CustomStringConvertible {
  /// The sentence.
  public var description: String { message }
}

extension TLSFailure {
  /// What OpenSSL's error queue of this thread says about `session`; empties it.
  static func take(_ session: OpaquePointer, isServer: Bool, serverName: String) -> TLSFailure {
    let code = ERR_peek_error()
    let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
    ERR_clear_error()
    let reason = ERR_GET_REASON(code)
    if reason > SSL_AD_REASON_OFFSET { return alert(UInt8(truncatingIfNeeded: reason - SSL_AD_REASON_OFFSET), isServer: isServer) }
    let peer = isServer ? "the client" : "the server"
    switch reason {
    case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST:
      return TLSFailure(.plainHTTP, "the client speaks plain HTTP to a TLS port: the URL must begin with https://")
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_UNKNOWN_PROTOCOL, SSL_R_BAD_PACKET_LENGTH, SSL_R_PACKET_LENGTH_TOO_LONG:
      return TLSFailure(.notTLS, "\(peer) does not speak TLS on this connection")
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW:
      return TLSFailure(.versionTooOld, "\(peer) offers no TLS version from 1.2 on")
    case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SUITABLE_GROUPS, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
      return TLSFailure(.noCommonCipher, "\(peer) and we have no cipher suite in common (\(text))")
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return verification(SSL_get_verify_result(session), of: isServer ? "the client" : serverName)
    default:
      return TLSFailure(.protocolViolation, "TLS with \(peer) failed: \(text)")
    }
  }

  private static func alert(_ number: UInt8, isServer: Bool) -> TLSFailure {
    let name = SSL_alert_desc_string_long(Int32(number)).map { String(cString: $0) } ?? "unknown"
    let (peer, other) = isServer ? ("the client", "this server") : ("the server", "this client")
    // bad_certificate to certificate_unknown, and unknown_ca.
    guard (42...46).contains(number) || number == 48 else {
      return TLSFailure(.alert(number), "\(peer) ended the TLS handshake with alert \(number), \(name)")
    }
    let cause = number == 48 ? "does not trust the authority of \(other)'s certificate" : "does not accept \(other)'s certificate"
    return TLSFailure(.certificateRejected(alert: number), "\(peer) \(cause) (TLS alert \(number), \(name))")
  }

  private static func verification(_ result: Int, of name: String) -> TLSFailure {
    let text = String(cString: X509_verify_cert_error_string(result))
    switch Int32(truncatingIfNeeded: result) {
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      return TLSFailure(.certificateNamesAnotherHost, "the server's certificate does not name \(name)")
    case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID:
      return TLSFailure(.certificateExpired, "a certificate of \(name) is not valid now (\(text))")
    case X509_V_ERR_CERT_REVOKED: return TLSFailure(.certificateRevoked, "the certificate of \(name) is revoked by its authority")
    default:
      return TLSFailure(.certificateUntrusted, "the certificate of \(name) leads to no trusted authority (\(text))")
    }
  }
}
