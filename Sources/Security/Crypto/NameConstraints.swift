import COpenSSL

/// For which DNS names and addresses an authority may sign (RFC 5280 section 4.2.1.10): a name stands for all below it as well.
///
/// Whoever trusts an authority of ours trusts it for these names alone, so that its key is of no use against any other server.
public struct NameConstraints: Hashable, Sendable {
  /// A network: an address, and which of its bits count.
  struct Network: Hashable, Sendable {
    let address: [UInt8]
    let mask: [UInt8]

    /// The address alone; of loopback's IPv4 addresses all.
    init(_ address: IPAddress) {
      let isLoopback = address.bytes.count == 4 && address.bytes[0] == 127
      mask = isLoopback ? [255, 0, 0, 0] : [UInt8](repeating: 255, count: address.bytes.count)
      self.address = zip(address.bytes, mask).map { $0 & $1 }
    }

    /// As a certificate has it: the address, and as many bytes of the mask.
    init?(bytes: [UInt8]) {
      guard bytes.count == 8 || bytes.count == 32 else { return nil }
      address = Array(bytes.prefix(bytes.count / 2))
      mask = Array(bytes.suffix(bytes.count / 2))
    }

    func contains(_ bytes: [UInt8]) -> Bool {
      bytes.count == address.count && zip(bytes, mask).map { $0 & $1 } == zip(address, mask).map { $0 & $1 }
    }

    /// As OpenSSL's configuration language has it.
    var text: String { "\(IPAddress(bytes: address)?.text ?? "")/\(IPAddress(bytes: mask)?.text ?? "")" }
  }

  private(set) var domains: [String] = []
  private(set) var networks: [Network] = []

  /// For these DNS names, `*.` wild cards and addresses; nil when one is none of them, or there is no name or no address: then all would be
  /// permitted.
  public init?(names: [String]) {
    for name in names {
      guard CertificateAuthority.canName(name) else { return nil }
      if let address = IPAddress(name) {
        let network = Network(address)
        if !networks.contains(network) { networks.append(network) }
      } else {
        let domain = Self.domain(name)
        if !domains.contains(where: { Self.isBelow(domain, $0) }) { domains.append(domain) }
      }
    }
    guard !domains.isEmpty, !networks.isEmpty else { return nil }
  }

  private init() {}

  /// Whether an authority may sign for a DNS name, a wild card or an address.
  public func permits(_ name: String) -> Bool {
    if let address = IPAddress(name) { return networks.contains { $0.contains(address.bytes) } }
    return domains.contains { Self.isBelow(Self.domain(name), $0) }
  }

  /// These, and those names as well.
  public func adding(_ names: [String]) -> NameConstraints? {
    guard let further = NameConstraints(names: names + ["localhost", "127.0.0.1"]) else { return nil }
    var sum = self
    sum.domains += further.domains.filter { !permits($0) }
    sum.networks += further.networks.filter { !networks.contains($0) }
    return sum
  }

  /// The extension's value.
  var text: String {
    "critical," + (domains.map { "permitted;DNS:\($0)" } + networks.map { "permitted;IP:\($0.text)" }).joined(separator: ",")
  }

  /// What a certificate says; nil where it says nothing, so that all is permitted.
  static func read(_ certificate: OpaquePointer) -> NameConstraints? {
    guard let found = X509_get_ext_d2i(certificate, NID_name_constraints, nil, nil) else { return nil }
    let constraints = found.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
    defer { NAME_CONSTRAINTS_free(constraints) }
    var result = NameConstraints()
    let list = constraints.pointee.permittedSubtrees
    for index in 0..<max(0, OPENSSL_sk_num(list)) {
      guard let entry = OPENSSL_sk_value(list, index),
        let base = entry.assumingMemoryBound(to: GENERAL_SUBTREE.self).pointee.base
      else { continue }
      switch base.pointee.type {
      case GEN_DNS: result.domains.append(String(decoding: Certificate.bytes(of: base.pointee.d.dNSName), as: UTF8.self).lowercased())
      case GEN_IPADD: if let network = Network(bytes: Certificate.bytes(of: base.pointee.d.iPAddress)) { result.networks.append(network) }
      default: break
      }
    }
    return result
  }

  private static func domain(_ name: String) -> String { (name.hasPrefix("*.") ? String(name.dropFirst(2)) : name).lowercased() }

  private static func isBelow(_ name: String, _ domain: String) -> Bool { name == domain || name.hasSuffix(".\(domain)") }
}
