import COpenSSL
public import Primitives

/// The certificate that a client of the provider API has shown, read for what it may send (apns.md section 4.4).
public struct ClientCertificate: Hashable, Sendable {
  /// How much of a certificate is read; what has more names no topic.
  public struct Bounds: Sendable {
    /// Topics that it may list.
    public var topics: Int
    /// Bytes of each.
    public var topicBytes: Int

    /// These bounds.
    public init(topics: Int, topicBytes: Int) {
      self.topics = topics
      self.topicBytes = topicBytes
    }
  }

  /// The topics that it names, its own first; none when it is no certificate for pushes, or its list is not to be understood.
  public var topics: [String]
  /// Whether it is for the development environment; true, too, where it names no environment.
  public var permitsDevelopment: Bool
  /// Whether it is for the production environment; true, too, where it names no environment.
  public var permitsProduction: Bool
  /// The last instant at which it is valid.
  public var notAfter: Instant
  /// The subject's common name, for people.
  public var commonName: String

  /// A certificate of these values.
  public init(topics: [String], permitsDevelopment: Bool, permitsProduction: Bool, notAfter: Instant, commonName: String) {
    self.topics = topics
    self.permitsDevelopment = permitsDevelopment
    self.permitsProduction = permitsProduction
    self.notAfter = notAfter
    self.commonName = commonName
  }

  /// What `certificate` says: its subject's UID is a topic, and so is each that Apple's extension for topics lists. Without that list,
  /// the extension of VoIP certificates makes the UID's VoIP topic its only one.
  public init(_ certificate: Certificate, _ bounds: Bounds) {
    let development = certificate.hasExtension(Certificate.developmentIdentifier)
    let production = certificate.hasExtension(Certificate.productionIdentifier)
    self.init(
      topics: Self.topics(of: certificate, bounds), permitsDevelopment: development || !production,
      permitsProduction: production || !development, notAfter: certificate.notAfter, commonName: certificate.commonName)
  }

  private static func topics(of certificate: Certificate, _ bounds: Bounds) -> [String] {
    let own = certificate.userID.flatMap { $0.utf8.count <= bounds.topicBytes ? $0 : nil }
    guard let list = certificate.content(ofExtension: Certificate.topicsIdentifier) else {
      guard let own, certificate.hasExtension(Certificate.voipIdentifier), !own.hasSuffix(".voip") else { return own.map { [$0] } ?? [] }
      return [own + ".voip"]
    }
    guard let listed = TopicList.read(list, topicsMax: bounds.topics, topicBytesMax: bounds.topicBytes) else { return [] }
    var topics = own.map { [$0] } ?? []
    for topic in listed where !topics.contains(topic) { topics.append(topic) }
    return topics
  }
}

extension Certificate {
  static let developmentIdentifier = "1.2.840.113635.100.6.3.1"
  static let productionIdentifier = "1.2.840.113635.100.6.3.2"
  fileprivate static let voipIdentifier = "1.2.840.113635.100.6.3.4"
  static let topicsIdentifier = "1.2.840.113635.100.6.3.6"

  /// The subject's UID (RFC 4519 section 2.39): the bundle id, or an MDM topic; nil where it has none, or not in ASCII.
  fileprivate var userID: String? {
    let name = X509_get_subject_name(certificate)
    let place = X509_NAME_get_index_by_NID(name, NID_userId, -1)
    guard place >= 0, let text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, place)) else { return nil }
    let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
    return bytes.isEmpty || bytes.contains { $0 <= 0x20 || $0 >= 0x7F } ? nil : String(decoding: bytes, as: UTF8.self)
  }

  fileprivate func hasExtension(_ identifier: String) -> Bool { content(ofExtension: identifier) != nil }

  fileprivate func content(ofExtension identifier: String) -> [UInt8]? {
    guard let object = OBJ_txt2obj(identifier, 1) else { return nil }
    defer { ASN1_OBJECT_free(object) }
    let place = X509_get_ext_by_OBJ(certificate, object, -1)
    guard place >= 0, let data = X509_EXTENSION_get_data(X509_get_ext(certificate, place)) else { return nil }
    return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(data), count: Int(ASN1_STRING_length(data))))
  }
}
