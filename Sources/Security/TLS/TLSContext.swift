import COpenSSL

/// The settings of one side of TLS, shared by all its connections on all loops.
///
/// TLS 1.2 and 1.3 with suites that HTTP/2 permits (RFC 9113 section 9.2); no compression, no renegotiation, session tickets.
///
/// `@unchecked Sendable`: never changed after `init`; OpenSSL locks what sessions share.
public final class TLSContext: @unchecked Sendable {
  let pointer: OpaquePointer
  let isServer: Bool
  /// What ALPN may choose, best first, in the form of RFC 7301.
  let protocolBytes: [UInt8]
  let identityForName: (@Sendable (String) -> TLSIdentity?)?

  /// The versions that are spoken.
  public enum Version: Sendable {
    /// TLS 1.2 or TLS 1.3 (RFC 5246, RFC 8446).
    case tls12, tls13

    fileprivate var number: Int { self == .tls12 ? Int(TLS1_2_VERSION) : Int(TLS1_3_VERSION) }
  }

  /// Whether a server asks its clients for certificates.
  public enum ClientCertificates: Sendable {
    /// It does not.
    case unasked
    /// It does, and goes on without one. One that is shown must lead to an authority in this PEM text; without a text none does.
    /// A chain may have that many bytes.
    case optional(authorityPEM: String?, chainBytesMax: Int)
  }

  /// A server that shows `identity`, or what `identityForName` gives for the server name that a client asks for.
  ///
  /// Of `protocols`, best first, the first one that a client offers by ALPN is chosen. When it offers others only, or does not
  /// speak ALPN, the handshake succeeds with no protocol, as Apple's does, and the layer above says what it expects.
  ///
  /// - Parameters:
  ///   - minimumVersion: The oldest version that it takes.
  ///   - clients: Whether it asks for certificates.
  public static func server(
    _ identity: TLSIdentity, protocols: [ApplicationProtocol], minimumVersion: Version = .tls12,
    clients: ClientCertificates = .unasked, identityForName: (@Sendable (String) -> TLSIdentity?)? = nil
  ) throws(CryptoError) -> TLSContext {
    let context = try TLSContext(isServer: true, protocols: protocols, identityForName: identityForName)
    let pointer = context.pointer
    guard SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, minimumVersion.number, nil) == 1 else {
      throw .library("refuse older versions")
    }
    try context.use(identity)
    if case .optional(let authorityPEM, let chainBytesMax) = clients {
      // The authorities are not named to clients: each shows the certificate it has, and is told what is wrong with it.
      SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
      SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MAX_CERT_LIST, chainBytesMax, nil)
      // What is resumed must have been verified for this very purpose; OpenSSL insists on a name for it.
      let name = Array("widgetpush".utf8)
      guard SSL_CTX_set_session_id_context(pointer, name, UInt32(name.count)) == 1 else { throw .library("name its sessions") }
      if let authorityPEM { try Self.trust(authorityPEM, in: SSL_CTX_get_cert_store(pointer)) }
    }
    let unmanaged = Unmanaged.passUnretained(context).toOpaque()
    SSL_CTX_set_alpn_select_cb(pointer, selectProtocol, unmanaged)
    if identityForName != nil { SSL_CTX_set_cert_cb(pointer, chooseIdentity, unmanaged) }
    return context
  }

  /// Whom a client believes.
  public enum Trust: Sendable {
    /// The roots that the system trusts.
    case systemRoots
    /// The certificates in this PEM text, and nobody else.
    case authorities(pem: String)
  }

  /// A client that verifies the server's chain and name, offers `protocols` by ALPN, and shows `identity` when it is asked.
  ///
  /// Throws when the PEM text holds no certificate.
  public static func client(
    _ trust: Trust, protocols: [ApplicationProtocol], identity: TLSIdentity? = nil
  ) throws(CryptoError) -> TLSContext {
    let context = try TLSContext(isServer: false, protocols: protocols, identityForName: nil)
    let pointer = context.pointer
    switch trust {
    case .systemRoots:
      guard SSL_CTX_set_default_verify_paths(pointer) == 1 else { throw .library("find the system's roots") }
    case .authorities(let pem): try Self.trust(pem, in: SSL_CTX_get_cert_store(pointer))
    }
    if let identity { try context.use(identity) }
    SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
    let bytes = context.protocolBytes
    guard bytes.isEmpty || SSL_CTX_set_alpn_protos(pointer, bytes, UInt32(bytes.count)) == 0 else {
      throw .library("offer these protocols")
    }
    return context
  }

  /// Shows this certificate with its chain.
  private func use(_ identity: TLSIdentity) throws(CryptoError) {
    guard SSL_CTX_use_certificate(pointer, identity.leaf) == 1, SSL_CTX_use_PrivateKey(pointer, identity.key) == 1 else {
      throw .library("use this certificate")
    }
    for issuer in identity.chain {
      guard SSL_CTX_ctrl(pointer, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(issuer.certificate)) == 1 else {
        throw .library("use this certificate chain")
      }
    }
  }

  /// Throws what is wrong with the PEM text of authorities.
  public static func checkAuthorities(_ pem: String) throws(CryptoError) {
    guard let store = X509_STORE_new() else { throw .library("keep certificates") }
    defer { X509_STORE_free(store) }
    try trust(pem, in: store)
  }

  /// Has `store` believe the certificates in `pem`, but for those that the revocation lists in it name. With any such list there
  /// must be one of each authority that signs certificates.
  private static func trust(_ pem: String, in store: OpaquePointer?) throws(CryptoError) {
    let added = try PEM.readingAll(pem, "certificate", { PEM_read_bio_X509($0, nil, answerNoPassphrase, nil) }) {
      (certificate) throws(CryptoError) in
      defer { X509_free(certificate) }
      guard X509_STORE_add_cert(store, certificate) == 1 else { throw .library("trust a certificate") }
    }
    let revocations = try PEM.readingAll(pem, "revocation list", { PEM_read_bio_X509_CRL($0, nil, answerNoPassphrase, nil) }) {
      (list) throws(CryptoError) in
      defer { X509_CRL_free(list) }
      guard X509_STORE_add_crl(store, list) == 1 else { throw .library("use a revocation list") }
    }
    if revocations > 0, X509_STORE_set_flags(store, UInt(X509_V_FLAG_CRL_CHECK)) != 1 { throw .library("use revocation lists") }
    guard added > 0 else {
      throw CryptoError(.unreadable, "no CA certificate in PEM form, which begins with -----BEGIN CERTIFICATE-----")
    }
  }

  private init(
    isServer: Bool, protocols: [ApplicationProtocol], identityForName: (@Sendable (String) -> TLSIdentity?)?
  ) throws(CryptoError) {
    guard let context = SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else { throw .library("make a TLS context") }
    pointer = context
    self.isServer = isServer
    self.identityForName = identityForName
    protocolBytes = protocols.flatMap(\.wireBytes)
    SSL_CTX_set_options(context, c_openssl_options)
    // Read-ahead: a burst of small records is one copy in, not two for each record.
    SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, nil)
    // Tickets keep sessions at the client; a cache here would only hold memory.
    SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    guard SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil) == 1, SSL_CTX_set_num_tickets(context, 1) == 1,
      SSL_CTX_set_cipher_list(context, Self.tls12Suites) == 1, SSL_CTX_set_ciphersuites(context, Self.tls13Suites) == 1,
      Self.groups.withCString({ SSL_CTX_ctrl(context, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: $0)) }) == 1
    else { throw .library("set up TLS") }
  }

  deinit { SSL_CTX_free(pointer) }

  // AES-128 first: as secure as anybody needs, and the cheapest with the instructions every server has.
  private static let tls13Suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
  private static let tls12Suites = """
    ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:\
    ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305
    """
  private static let groups = "X25519:P-256:P-384"
}

private func context(_ argument: UnsafeMutableRawPointer?) -> TLSContext {
  Unmanaged<TLSContext>.fromOpaque(argument!).takeUnretainedValue()
}

/// Chooses our best protocol that the client offers; without one in common, acknowledges nothing and goes on.
private func selectProtocol(
  _: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ chosenCount: UnsafeMutablePointer<UInt8>?,
  _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  context(argument).protocolBytes.withUnsafeBufferPointer { ours in
    var name: UnsafeMutablePointer<UInt8>?
    let outcome = SSL_select_next_proto(&name, chosenCount, ours.baseAddress, UInt32(ours.count), offered, offeredCount)
    guard outcome == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_NOACK }
    // It points into our list, which lives as long as the context.
    chosen!.pointee = UnsafePointer(name)
    return SSL_TLSEXT_ERR_OK
  }
}

/// Shows another identity where the client asks for a name that has one of its own.
private func chooseIdentity(_ session: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name),
    let identity = context(argument).identityForName?(String(cString: name))
  else { return 1 }
  guard SSL_use_certificate(session, identity.leaf) == 1, SSL_use_PrivateKey(session, identity.key) == 1,
    SSL_ctrl(session, SSL_CTRL_CHAIN, 0, nil) == 1
  else { return 0 }
  for issuer in identity.chain {
    guard SSL_ctrl(session, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(issuer.certificate)) == 1 else { return 0 }
  }
  return 1
}
