import COpenSSL
public import Primitives

/// One TLS connection without its socket: ciphertext in, plaintext out, and back.
public struct TLSSession: ~Copyable {
  /// How the connection stands after a call.
  public enum State: Hashable, Sendable {
    /// It goes on, or the handshake does.
    case open
    /// The peer has said that it sends no more (close_notify).
    case ended
    /// It is over; the output may hold an alert for the peer.
    case failed(TLSFailure)
  }

  /// Bytes of plaintext in a record, at most (RFC 8446 section 5.1).
  public static let recordBytesMax = 16_384
  /// Bytes that a record adds to its plaintext, at most, over all suites we permit.
  private static let recordOverheadMax = 64
  /// Free bytes that `receive` needs for its output: no flight of ours is longer, a chain of many large certificates included.
  public static let flightBytesMax = 65_536

  private let session: OpaquePointer
  private let wire: UnsafeMutablePointer<MemoryWire>
  /// Holds the context that OpenSSL's callbacks refer to.
  private let context: TLSContext
  private let wantedName: String
  /// Why nothing may be sent to the peer: without a name to check, any certificate would do.
  private var obstacle: TLSFailure?
  /// Whether the handshake is done.
  public private(set) var isEstablished = false

  /// The server's side of a new connection.
  public init(server context: TLSContext) {
    precondition(context.isServer)
    self.init(context, name: "")
    SSL_set_accept_state(session)
  }

  /// The client's side of a new connection to the host `name`, which the certificate must be for; a DNS name or an IP
  /// literal. Call `receive` with no bytes to get the first flight.
  public init(client context: TLSContext, name: String) {
    precondition(!context.isServer)
    self.init(context, name: name)
    SSL_set_connect_state(session)
    if !setName(name) { obstacle = TLSFailure(.protocolViolation, "\"\(name)\" is no name that a certificate could be for") }
    ERR_clear_error()
  }

  /// Has the certificate be for `name`, and asks for it (SNI).
  private func setName(_ name: String) -> Bool {
    if IPAddress(name) != nil { return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name) == 1 }
    SSL_set_hostflags(session, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    return SSL_set1_host(session, name) == 1
      && name.withCString {
        return SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), UnsafeMutableRawPointer(mutating: $0))
      } == 1
  }

  private init(_ context: TLSContext, name: String) {
    guard let session = SSL_new(context.pointer) else { preconditionFailure("OpenSSL has no memory for a session") }
    self.session = session
    self.context = context
    wantedName = name
    wire = .allocate(capacity: 1)
    wire.initialize(to: MemoryWire())
    let bio = MemoryWire.makeBIO(wire)
    SSL_set_bio(session, bio, bio)
  }

  deinit {
    SSL_free(session)
    wire.deallocate()
  }

  /// Takes all of `ciphertext`: goes on with the handshake, and decrypts what is complete into `plaintext`.
  ///
  /// `plaintext` must have as many bytes free as `ciphertext` has, and two records more; `output`, which gets handshake
  /// messages and alerts, `flightBytesMax`. Plaintext that came before a failure is delivered beside it.
  public mutating func receive(_ ciphertext: RawSpan, plaintext: inout ByteQueue, output: inout ByteQueue) -> State {
    precondition(plaintext.free >= ciphertext.byteCount + 2 * Self.recordBytesMax && output.free >= Self.flightBytesMax)
    if let obstacle { return .failed(obstacle) }
    return ciphertext.withUnsafeBytes { bytes in
      withUnsafeMutablePointer(to: &output) { output in
        wire.pointee = MemoryWire(input: bytes, output: output)
        defer { wire.pointee = MemoryWire() }
        // Once a call: what others left in this thread's error queue would be taken for ours.
        ERR_clear_error()
        if !isEstablished {
          let outcome = SSL_do_handshake(session)
          guard outcome == 1 else { return interpret(outcome) }
          isEstablished = true
        }
        while true {
          var outcome: Int32 = 0
          _ = plaintext.fill(atMost: Self.recordBytesMax) { room in
            outcome = SSL_read(session, room.baseAddress, Int32(room.count))
            return max(0, Int(outcome))
          }
          guard outcome > 0 else { return interpret(outcome) }
        }
      }
    }
  }

  /// Encrypts from the head of `plaintext` into `output` until the one is empty or the other lacks room for a record.
  ///
  /// Does nothing before the handshake is done.
  public mutating func send(_ plaintext: inout ByteQueue, output: inout ByteQueue) -> State {
    guard isEstablished else { return .open }
    return withUnsafeMutablePointer(to: &output) { output in
      wire.pointee.output = output
      defer { wire.pointee.output = nil }
      while !plaintext.isEmpty {
        let length = min(plaintext.count, Self.recordBytesMax)
        guard output.pointee.free >= length + Self.recordOverheadMax else { return .open }
        let written = plaintext.bytes.withUnsafeBytes { SSL_write(session, $0.baseAddress, Int32(length)) }
        guard written > 0 else { return interpret(written) }
        plaintext.consume(Int(written))
      }
      return .open
    }
  }

  /// Writes close_notify to `output`, so that the peer can tell this end from a cut; nothing before the handshake is done.
  ///
  /// Where that cannot be written, the connection ends without it, which is all that could be done about it.
  public mutating func close(output: inout ByteQueue) {
    guard isEstablished else { return }
    withUnsafeMutablePointer(to: &output) { output in
      wire.pointee.output = output
      SSL_shutdown(session)
      wire.pointee.output = nil
    }
    ERR_clear_error()
  }

  /// Gives OpenSSL's record buffers (33 KB) back until there is traffic again; nothing happens when they hold bytes.
  public mutating func releaseBuffers() { _ = SSL_free_buffers(session) }

  /// What ALPN chose; nil when nothing in common was offered, or nothing at all.
  public var applicationProtocol: ApplicationProtocol? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(session, &name, &count)
    return ApplicationProtocol(UnsafeBufferPointer(start: name, count: Int(count)))
  }

  /// The server name that the client asked for (SNI, RFC 6066 section 3), as it spelled it; nil when it named none.
  public var serverName: String? {
    SSL_get_servername(session, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
  }

  /// The certificate that the client has shown, which leads to a trusted authority, as far as the bounds allow; nil when it has shown
  /// none, and before the handshake is done. Reads it anew at each call.
  public func clientCertificate(_ bounds: ClientCertificate.Bounds) -> ClientCertificate? {
    guard context.isServer, isEstablished, SSL_get_verify_result(session) == Int(X509_V_OK),
      let certificate = SSL_get1_peer_certificate(session)
    else { return nil }
    return ClientCertificate(Certificate(takingOwnership: certificate), bounds)
  }

  /// The agreed version, such as `TLSv1.3`.
  public var version: String { String(cString: SSL_get_version(session)) }

  /// The one place that reads `SSL_get_error`.
  private func interpret(_ outcome: Int32) -> State {
    switch SSL_get_error(session, outcome) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .open
    case SSL_ERROR_ZERO_RETURN: return .ended
    default: return .failed(TLSFailure.take(session, isServer: context.isServer, serverName: wantedName))
    }
  }
}
