import COpenSSL
import Primitives

/// What a certificate is going to say, until it is signed.
///
/// The set of extensions is what strict verifiers ask for (RFC 5280 section 4.2; Python's `VERIFY_X509_STRICT` among them):
/// critical constraints and key usage, and key identifiers on both ends of the chain.
struct CertificateBuilder {
  /// One extension, in the words of OpenSSL's configuration language.
  struct Extension {
    var kind: Int32 = 0
    /// The identifier of one that OpenSSL has no number for; then `kind` says nothing.
    var identifier: String?
    let value: String

    static let authorityConstraints = Extension(kind: NID_basic_constraints, value: "critical,CA:TRUE,pathlen:0")
    static let authorityKeyUsage = Extension(kind: NID_key_usage, value: "critical,keyCertSign,cRLSign")
    static let leafConstraints = Extension(kind: NID_basic_constraints, value: "critical,CA:FALSE")
    static let leafKeyUsage = Extension(kind: NID_key_usage, value: "critical,digitalSignature")
    static let serverUsage = Extension(kind: NID_ext_key_usage, value: "serverAuth")
    static let clientUsage = Extension(kind: NID_ext_key_usage, value: "clientAuth")
    static let subjectKeyIdentifier = Extension(kind: NID_subject_key_identifier, value: "hash")
    static let authorityKeyIdentifier = Extension(kind: NID_authority_key_identifier, value: "keyid:always")
    static func nameConstraints(_ constraints: NameConstraints) -> Extension {
      Extension(kind: NID_name_constraints, value: constraints.text)
    }
    /// `entries` holds checked names only: a comma in one would add another.
    static func alternativeNames(_ entries: String) -> Extension { Extension(kind: NID_subject_alt_name, value: entries) }
  }

  let subject: String
  /// The subject's UID (RFC 4519 section 2.39).
  var userID: String?
  let key: P256PrivateKey
  let notBefore: Instant
  let notAfter: Instant
  let extensions: [Extension]

  /// The certificate, signed with `signer`; without an issuer it names itself as one.
  func signed(by issuer: Certificate?, key signer: P256PrivateKey) throws(CryptoError) -> Certificate {
    guard let certificate = X509_new() else { throw .library("make a certificate") }
    let owner = Certificate(takingOwnership: certificate)
    guard X509_set_version(certificate, 2) == 1, setSerialNumber(of: certificate),
      setTime(X509_getm_notBefore(certificate), notBefore), setTime(X509_getm_notAfter(certificate), notAfter),
      X509_set_pubkey(certificate, key.key) == 1, setSubject(of: certificate),
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer?.certificate ?? certificate)) == 1,
      addExtensions(to: certificate, issuer: issuer?.certificate ?? certificate),
      X509_sign(certificate, signer.key, EVP_sha256()) > 0
    else { throw .library("make a certificate") }
    return owner
  }

  /// 127 random bits: RFC 5280 section 4.1.2.2 wants a positive number of at most 20 bytes, verifiers want it unique.
  private func setSerialNumber(of certificate: OpaquePointer) -> Bool {
    var bytes = SecureRandom.bytes(16)
    bytes[0] = bytes[0] & 0x7F | 0x40
    guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return false }
    defer { BN_free(number) }
    return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
  }

  private func setTime(_ field: UnsafeMutablePointer<ASN1_TIME>?, _ instant: Instant) -> Bool {
    ASN1_TIME_set(field, Int(instant.unixSeconds)) != nil
  }

  private func setSubject(of certificate: OpaquePointer) -> Bool {
    let name = X509_get_subject_name(certificate)
    return X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, Array("widgetpush".utf8), Int32("widgetpush".utf8.count), -1, 0) == 1
      && userID.map { X509_NAME_add_entry_by_txt(name, "UID", MBSTRING_UTF8, Array($0.utf8), Int32($0.utf8.count), -1, 0) == 1 } ?? true
      && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, Array(subject.utf8), Int32(subject.utf8.count), -1, 0) == 1
  }

  private func addExtensions(to certificate: OpaquePointer, issuer: OpaquePointer) -> Bool {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
    for entry in extensions {
      let made =
        entry.identifier.map { X509V3_EXT_conf(nil, &context, $0, entry.value) }
        ?? X509V3_EXT_conf_nid(nil, &context, entry.kind, entry.value)
      guard let added = made else { return false }
      defer { X509_EXTENSION_free(added) }
      guard X509_add_ext(certificate, added, -1) == 1 else { return false }
    }
    return true
  }
}
