import HTTP2
import Security
import Transport

/// The kinds of connections that are refused, or ended, below HTTP, as `/metrics` names them.
enum ConnectionRefusal: String, CaseIterable {
  case handshakeTimeout = "handshake_timeout"
  case handshakeFailed = "handshake_failed"
  case certificateUntrusted = "certificate_untrusted"
  case certificateExpired = "certificate_expired"
  case certificateRevoked = "certificate_revoked"
  case badCertificate = "bad_certificate"
  case badCertificateEnvironment = "bad_certificate_environment"
  case http1
  case garbage
  case protocolError = "protocol_error"
  case flowControlError = "flow_control_error"
  case frameSizeError = "frame_size_error"
  case compressionError = "compression_error"
  case streamClosed = "stream_closed"
  case settingsError = "settings_error"
  case flood
  case rapidReset = "rapid_reset"
  case otherError = "other_error"
  case invalidProviderTokens = "invalid_provider_tokens"
  case stalledWrite = "stalled_write"
  case tooManyConnections = "too_many_connections"
  case noDescriptors = "no_descriptors"
  case gaveWay = "gave_way"
  case lost

  /// The kind of a connection that ended so.
  init(_ end: ConnectionEnd) {
    self =
      switch end {
      case .handshakeTimeout: .handshakeTimeout
      case .tls(let failure): Self(failure.kind)
      case .closedInHandshake: .handshakeFailed
      case .http2(let failure): Self(failure)
      case .stalledWrite: .stalledWrite
      case .tooManyConnections: .tooManyConnections
      case .noDescriptors: .noDescriptors
      case .gaveWay: .gaveWay
      case .lost: .lost
      case .finished, .peerEnded, .notResolved, .connectFailed, .wrongProtocol, .unresponsive, .drained: .otherError
      }
  }

  private init(_ kind: TLSFailure.Kind) {
    self =
      switch kind {
      case .certificateUntrusted: .certificateUntrusted
      case .certificateExpired: .certificateExpired
      case .certificateRevoked: .certificateRevoked
      case .plainHTTP, .notTLS, .versionTooOld, .noCommonCipher, .certificateRejected, .alert, .certificateNamesAnotherHost,
        .protocolViolation:
        .handshakeFailed
      }
  }

  private init(_ failure: SessionFailure) {
    self =
      switch failure {
      case .http1Request: .http1
      case .badPreface: .garbage
      case .rapidReset: .rapidReset
      // The error codes of RFC 9113 section 7.
      case .violation(code: 1, _): .protocolError
      case .violation(code: 3, _): .flowControlError
      case .violation(code: 4, _): .settingsError
      case .violation(code: 5, _): .streamClosed
      case .violation(code: 6, _): .frameSizeError
      case .violation(code: 9, _): .compressionError
      case .violation(code: 11, _): .flood
      case .violation: .otherError
      }
  }
}
