import COpenSSL
public import Primitives

/// An X.509 certificate (RFC 5280), read for what it says of itself.
///
/// `@unchecked Sendable`: the certificate is never changed after `init`, and OpenSSL counts its references atomically.
public final class Certificate: @unchecked Sendable {
  let certificate: OpaquePointer

  init(takingOwnership certificate: OpaquePointer) { self.certificate = certificate }

  deinit { X509_free(certificate) }

  /// The first certificate in `pem` (`BEGIN CERTIFICATE`); throws when there is none.
  public convenience init(pem: String) throws(CryptoError) {
    let certificate = PEM.reading(pem) { bio in PEM_read_bio_X509(bio, nil, answerNoPassphrase, nil) }
    let reason = CryptoError.takeReason()
    guard let certificate else {
      throw CryptoError(
        .unreadable, "not a certificate in PEM form, which begins with -----BEGIN CERTIFICATE----- (\(reason ?? "no such block"))")
    }
    self.init(takingOwnership: certificate)
  }

  /// The certificate as PEM.
  public func pem() throws(CryptoError) -> String {
    try PEM.writing("write a certificate") { bio in PEM_write_bio_X509(bio, certificate) }
  }

  /// The first instant at which it is valid.
  public var notBefore: Instant { instant(X509_get0_notBefore(certificate)) }

  /// The last instant at which it is valid.
  public var notAfter: Instant { instant(X509_get0_notAfter(certificate)) }

  /// The subject's common name, or an empty string.
  public var commonName: String {
    var name = [CChar](repeating: 0, count: 256)
    let count = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, &name, Int32(name.count))
    return String(decoding: name.prefix(Int(max(0, count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The DNS names and IP addresses of the subject's alternative names, in their order; IPv6 in its shortest form.
  public var names: [String] {
    guard let found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
    let list = OpaquePointer(found)
    defer { GENERAL_NAMES_free(list) }
    return (0..<OPENSSL_sk_num(list)).compactMap { index in
      guard let entry = OPENSSL_sk_value(list, index) else { return nil }
      let name = entry.assumingMemoryBound(to: GENERAL_NAME.self).pointee
      switch name.type {
      case GEN_DNS: return String(decoding: Self.bytes(of: name.d.dNSName), as: UTF8.self)
      case GEN_IPADD: return IPAddress(bytes: Self.bytes(of: name.d.iPAddress))?.text
      default: return nil
      }
    }
  }

  /// For which names it may sign as an authority; nil where that is not limited.
  public var constraints: NameConstraints? { NameConstraints.read(certificate) }

  /// Whether `issuer`'s key signed this certificate.
  public func isSigned(by issuer: Certificate) -> Bool {
    defer { ERR_clear_error() }
    guard let key = X509_get0_pubkey(issuer.certificate) else { return false }
    return X509_check_issued(issuer.certificate, certificate) == X509_V_OK && X509_verify(certificate, key) == 1
  }

  /// Whether the certificate is for this private key.
  public func belongs(to key: P256PrivateKey) -> Bool {
    defer { ERR_clear_error() }
    return X509_check_private_key(certificate, key.key) == 1
  }

  static func bytes(of string: UnsafeMutablePointer<ASN1_STRING>?) -> [UInt8] {
    guard let string, let data = ASN1_STRING_get0_data(string) else { return [] }
    return Array(UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(string))))
  }

  private func instant(_ time: UnsafePointer<ASN1_TIME>?) -> Instant {
    var days: Int32 = 0
    var seconds: Int32 = 0
    // Without it, the difference would be that to the present time.
    guard let epoch = ASN1_TIME_set(nil, 0) else { return .distantPast }
    defer { ASN1_STRING_free(epoch) }
    guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return .distantPast }
    return Instant(unixSeconds: Int64(days) * 86_400 + Int64(seconds))
  }
}
