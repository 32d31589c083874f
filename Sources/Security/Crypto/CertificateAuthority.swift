public import Primitives

/// A private certificate authority: makes the certificates of `dev`'s faces, which clients trust through one `ca.pem`.
public struct CertificateAuthority: Sendable {
  /// The authority's own certificate.
  public let certificate: Certificate
  /// Its key, which signs.
  public let key: P256PrivateKey

  /// A certificate with the private key it is for.
  public struct Leaf: Sendable {
    /// The certificate, signed by the authority.
    public let certificate: Certificate
    /// The private key, made for it.
    public let key: P256PrivateKey
  }

  /// How far certificates reach into the past, so that a client whose clock is behind accepts them.
  static let backdating = TimeSpan.seconds(3600)

  /// A new authority, self-signed, valid for `days` from `now`; it may sign leaves, but no other authority.
  ///
  /// - Parameter constraints: The names that it may sign for; nil means all.
  public static func make(
    commonName: String, constraints: NameConstraints? = nil, now: Instant, days: Int64
  ) throws(CryptoError) -> CertificateAuthority {
    try make(commonName: commonName, key: P256PrivateKey.generate(), constraints: constraints, now: now, days: days)
  }

  /// The same authority with a certificate made anew: of the same name and key, so that what it has signed stays signed by it.
  public func renewed(constraints: NameConstraints?, now: Instant, days: Int64) throws(CryptoError) -> CertificateAuthority {
    try Self.make(commonName: certificate.commonName, key: key, constraints: constraints, now: now, days: days)
  }

  private static func make(
    commonName: String, key: P256PrivateKey, constraints: NameConstraints?, now: Instant, days: Int64
  ) throws(CryptoError) -> CertificateAuthority {
    var extensions: [CertificateBuilder.Extension] = [.authorityConstraints, .authorityKeyUsage, .subjectKeyIdentifier]
    if let constraints { extensions.append(.nameConstraints(constraints)) }
    let certificate = try CertificateBuilder(
      subject: commonName, key: key, notBefore: now - backdating, notAfter: now + .seconds(days * 86_400), extensions: extensions
    ).signed(by: nil, key: key)
    return CertificateAuthority(certificate: certificate, key: key)
  }

  /// The authority that was written as these two PEM texts; throws when one is unreadable or they do not belong together.
  public init(certificatePEM: String, keyPEM: String) throws(CryptoError) {
    let certificate = try Certificate(pem: certificatePEM)
    let key = try P256PrivateKey(pem: keyPEM)
    guard certificate.belongs(to: key) else {
      throw CryptoError(.badArgument, "the authority's certificate and its key do not belong together")
    }
    self.init(certificate: certificate, key: key)
  }

  private init(certificate: Certificate, key: P256PrivateKey) {
    self.certificate = certificate
    self.key = key
  }

  /// Whether a certificate can be made for `name`: a DNS name, perhaps after `*.`, or an IP address.
  public static func canName(_ name: String) -> Bool { IPAddress(name) != nil || isDNSName(name) }

  /// A server certificate for `names` (DNS names, `*.` wild cards, IPv4 and IPv6 addresses), valid for `days` from `now`.
  ///
  /// Throws `badArgument` for an empty list or a name that is neither a DNS name nor an address. Clients want at most 825 days
  /// (Apple, "Requirements for trusted certificates").
  public func issue(names: [String], now: Instant, days: Int64) throws(CryptoError) -> Leaf {
    guard let first = names.first else { throw CryptoError(.badArgument, "a certificate needs at least one name") }
    var entries: [String] = []
    for name in names {
      if let address = IPAddress(name) {
        entries.append("IP:\(address.text)")
      } else if isDNSName(name) {
        entries.append("DNS:\(name)")
      } else {
        throw CryptoError(.badArgument, "\"\(name)\" is neither a DNS name nor an IP address")
      }
    }
    let key = try P256PrivateKey.generate()
    let certificate = try CertificateBuilder(
      subject: String(first.prefix(64)), key: key, notBefore: now - Self.backdating, notAfter: now + .seconds(days * 86_400),
      extensions: [
        .leafConstraints, .leafKeyUsage, .serverUsage, .subjectKeyIdentifier, .authorityKeyIdentifier,
        .alternativeNames(entries.joined(separator: ",")),
      ]
    ).signed(by: self.certificate, key: self.key)
    return Leaf(certificate: certificate, key: key)
  }
}

extension CertificateAuthority {
  /// A client certificate as Apple makes them for backends: for these topics, of which the first is the subject's UID, in these
  /// environments; valid for `days` from `now`.
  ///
  /// Throws `badArgument` for an empty list, or a topic that is not 1 to 120 bytes of printable ASCII.
  public func issueClient(
    topics: [String], development: Bool, production: Bool, now: Instant, days: Int64
  ) throws(CryptoError) -> Leaf {
    for topic in topics where !(1...120).contains(topic.utf8.count) || topic.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) {
      throw CryptoError(.badArgument, "\"\(topic)\" cannot be a topic, which has 1 to 120 letters, digits, hyphens and periods")
    }
    guard let first = topics.first else { throw CryptoError(.badArgument, "a certificate needs at least one topic") }
    var extensions: [CertificateBuilder.Extension] = [
      .leafConstraints, .leafKeyUsage, .clientUsage, .subjectKeyIdentifier, .authorityKeyIdentifier,
    ]
    func add(_ identifier: String, _ der: [UInt8]) {
      extensions.append(.init(identifier: identifier, value: "DER:" + Hexadecimal.encode(der)))
    }
    if development { add(Certificate.developmentIdentifier, [0x05, 0x00]) }
    if production { add(Certificate.productionIdentifier, [0x05, 0x00]) }
    if topics.count > 1 { add(Certificate.topicsIdentifier, TopicList.der(topics)) }
    let key = try P256PrivateKey.generate()
    let certificate = try CertificateBuilder(
      subject: String("Push \(first)".prefix(64)), userID: first, key: key, notBefore: now - Self.backdating,
      notAfter: now + .seconds(days * 86_400), extensions: extensions
    ).signed(by: self.certificate, key: self.key)
    return Leaf(certificate: certificate, key: key)
  }
}

/// Whether `name` is a host name (RFC 1123 section 2.1, with `_` as many networks have it), perhaps after `*.`.
private func isDNSName(_ name: String) -> Bool {
  let host = name.hasPrefix("*.") ? name.dropFirst(2) : Substring(name)
  guard !host.isEmpty, host.utf8.count <= 253 else { return false }
  return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
    guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return false }
    return label.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }
}
