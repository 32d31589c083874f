import COpenSSL

/// What a TLS server shows: a certificate, those that lead from it to a root, and the private key.
///
/// `@unchecked Sendable`: never changed after `init`, and OpenSSL counts the references atomically.
public final class TLSIdentity: @unchecked Sendable {
  let leaf: OpaquePointer
  /// The certificates after the leaf, in the order of the file.
  let chain: [Certificate]
  let key: OpaquePointer

  /// The identity of two PEM texts, which may be the same: the leaf first and its issuers after it, and any private key
  /// that OpenSSL reads without a passphrase. Throws when one is unreadable or they do not belong together.
  public init(certificatePEM: String, keyPEM: String) throws(CryptoError) {
    var certificates: [Certificate] = []
    _ = try PEM.readingAll(certificatePEM, "certificate", { PEM_read_bio_X509($0, nil, answerNoPassphrase, nil) }) {
      (certificate) throws(CryptoError) in
      certificates.append(Certificate(takingOwnership: certificate))
    }
    guard !certificates.isEmpty else {
      throw CryptoError(.unreadable, "no certificate in PEM form, which begins with -----BEGIN CERTIFICATE-----")
    }
    var isEncrypted = false
    let key = PEM.reading(keyPEM) { bio in PEM_read_bio_PrivateKey(bio, nil, answerNoPassphrase, &isEncrypted) }
    let reason = CryptoError.takeReason()
    guard let key else {
      if isEncrypted {
        throw CryptoError(.encrypted, "the private key is protected by a passphrase: store it without (openssl pkey -in KEY -out PLAIN)")
      }
      throw CryptoError(
        .unreadable, "not a private key in PEM form, such as -----BEGIN PRIVATE KEY----- (\(reason ?? "no such block"))")
    }
    let first = certificates.removeFirst()
    guard X509_check_private_key(first.certificate, key) == 1 else {
      ERR_clear_error()
      EVP_PKEY_free(key)
      throw CryptoError(.badArgument, "the private key is not the one of the first certificate")
    }
    guard X509_up_ref(first.certificate) == 1 else {
      EVP_PKEY_free(key)
      throw .library("keep a certificate")
    }
    leaf = first.certificate
    chain = certificates
    self.key = key
  }

  /// The identity of a leaf that an authority of ours has issued.
  public convenience init(_ leaf: CertificateAuthority.Leaf) throws(CryptoError) {
    try self.init(certificatePEM: try leaf.certificate.pem(), keyPEM: try leaf.key.pem())
  }

  deinit {
    X509_free(leaf)
    EVP_PKEY_free(key)
  }
}
