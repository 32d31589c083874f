import HTTP2
import Security
import Transport

/// What a person can do about a connection that failed before it carried a request.
enum ConnectionAdvice {
  /// The advice, or nil when there is none.
  static func text(_ end: ConnectionEnd, _ credentials: Credentials) -> String? {
    switch end {
    case .tls(let failure): tls(failure.kind, credentials)
    case .closedInHandshake: trust(credentials)
    case .http2(.http1Request):
      "The provider API speaks HTTP/2 only, as Apple's does: use an HTTP/2 client, with curl the option --http2."
    case .http2(.badPreface), .wrongProtocol:
      "The provider API speaks HTTP/2 over TLS: after the handshake the client has to send the HTTP/2 preface."
    case .http2(.rapidReset): "Let the client wait for its answers, instead of giving streams up."
    case .http2(.violation): "Look for a newer version of the client's HTTP/2 library; this side cannot go on with the connection."
    case .handshakeTimeout: "The client connected and then said too little: it has to finish the TLS handshake at once."
    case .stalledWrite: "The client has to read its answers while it sends."
    case .noDescriptors: "Raise the gateway's limit of open files (ulimit -n), or use one connection for many pushes."
    case .tooManyConnections: "Use one connection for many pushes, as Apple asks, instead of one for each."
    case .gaveWay:
      "The places were short, so the oldest connection without an admitted request gave way: send the request as soon as it is open."
    case .finished, .peerEnded, .notResolved, .connectFailed, .lost, .unresponsive, .drained: nil
    }
  }

  private static func tls(_ kind: TLSFailure.Kind, _ credentials: Credentials) -> String? {
    switch kind {
    case .plainHTTP:
      "This port speaks TLS: write https:// in the URL\(credentials.plain.map { "; the control API in plain HTTP is at \($0)" } ?? "")."
    case .notTLS: "This port speaks TLS: the client has to begin with a TLS handshake."
    case .versionTooOld: "Let the client use TLS 1.2 or later, as Apple requires."
    case .noCommonCipher: "Let the client offer TLS 1.3, or TLS 1.2 with ECDHE-ECDSA and AES-GCM or ChaCha20."
    case .certificateRejected, .alert: trust(credentials)
    case .certificateUntrusted:
      "Name the authority of client certificates as provider.clientCertificates.ca, and have the client send the intermediate ones, or send a provider token instead of a certificate."
    case .certificateExpired, .certificateRevoked:
      "Give the client a certificate that is valid, or send a provider token instead of one."
    case .certificateNamesAnotherHost, .protocolViolation: nil
    }
  }

  private static func trust(_ credentials: Credentials) -> String {
    "Let the client trust \(credentials.caFile) (curl: --cacert; Node: NODE_EXTRA_CA_CERTS; Go: RootCAs; Python: cafile)."
  }
}
