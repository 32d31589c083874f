import Foundation
import Testing

/// What a C library returns is looked at: Swift lets the result of every C function be dropped in silence.
@Suite("Dropped results") struct DroppedResultsTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// Functions whose result is none, or says nothing about success; those that end something, and the two whose callers say why nothing
  /// could be done about a failure.
  private static let permitted: Set<String> = [
    "sqlite3_close_v2", "sqlite3_finalize", "sqlite3_reset", "sqlite3_wal_hook",
    "SSL_CTX_free", "SSL_free", "SSL_free_buffers", "SSL_shutdown", "SSL_CTX_set_verify", "SSL_CTX_set_options",
    "SSL_CTX_set_alpn_select_cb", "SSL_CTX_set_cert_cb", "SSL_set_accept_state", "SSL_set_connect_state", "SSL_set_bio",
    "SSL_set_hostflags", "SSL_get0_alpn_selected", "X509_free", "X509_CRL_free", "X509_STORE_free", "X509_EXTENSION_free",
    "X509V3_set_ctx", "EVP_PKEY_free", "EVP_PKEY_CTX_free", "EVP_MD_CTX_free", "EVP_MD_free", "BIO_free", "BIO_set_data", "BIO_set_init",
    "BIO_set_flags", "BIO_clear_flags", "BN_free", "ECDSA_SIG_free", "ASN1_STRING_free", "ASN1_OBJECT_free", "GENERAL_NAMES_free",
    "ERR_clear_error", "OPENSSL_cleanse",
  ]
  /// Commands of `SSL_CTX_ctrl` that return what was set before.
  private static let permittedCommands = ["SSL_CTRL_SET_READ_AHEAD", "SSL_CTRL_SET_SESS_CACHE_MODE", "SSL_CTRL_SET_MAX_CERT_LIST"]

  /// The call with which a line begins, or a block on it, if nothing is made of its result.
  private static func droppedCall(_ line: String) -> String? {
    let code = line.trimmingCharacters(in: .whitespaces)
    guard !code.hasPrefix("//") else { return nil }
    let prefixes = "sqlite3_|SSL_|X509|EVP_|BIO_|BN_|PEM_|ERR_|RAND_|ECDSA_|ASN1_|OBJ_|GENERAL_|OPENSSL_|d2i_|i2d_"
    let block = "(?:defer|deinit|else|if [^{]*|(?:[a-z]+ )*func [^{>]*) \\{ "
    let pattern = "^(?:\(block))?(?:_ = )?((?:\(prefixes))[A-Za-z0-9_]*)\\((.*)$"
    guard let match = try? NSRegularExpression(pattern: pattern).firstMatch(in: code, range: NSRange(code.startIndex..., in: code)),
      let name = Range(match.range(at: 1), in: code), let rest = Range(match.range(at: 2), in: code)
    else { return nil }
    let isUsed = code[rest].contains(" == ") || code[rest].contains(" != ") || code[rest].contains(" > ") || code[rest].contains(").map")
    let isHarmless = permitted.contains(String(code[name])) || permittedCommands.contains { code[rest].contains($0) }
    return isUsed || isHarmless ? nil : String(code[name])
  }

  @Test(arguments: ["Sources/Storage", "Sources/Security"]) func noneIsDropped(folder: String) throws {
    var calls = 0
    for file in try FileManager.default.subpathsOfDirectory(atPath: "\(Self.root)/\(folder)") where file.hasSuffix(".swift") {
      let text = try String(contentsOfFile: "\(Self.root)/\(folder)/\(file)", encoding: .utf8)
      guard text.contains("import CSQLite") || text.contains("import COpenSSL") else { continue }
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        calls += line.contains("sqlite3_") || line.contains("SSL_") || line.contains("X509_") ? 1 : 0
        if let call = Self.droppedCall(String(line)) { Issue.record("\(folder)/\(file):\(number + 1) drops what \(call) returns") }
      }
    }
    #expect(calls > 20, "the calls are looked for where they are")
  }

  @Test func theTestKnowsADroppedResult() {
    for line in [
      "sqlite3_bind_int64(handle, index, value)", "  func bind(_ value: Int64) { sqlite3_bind_int64(handle, 1, value) }",
      "_ = sqlite3_step(handle)", "SSL_set1_host(session, name)", "SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, 1, nil)",
      "defer { X509_STORE_add_cert(store, certificate) }",
    ] { #expect(Self.droppedCall(line) != nil, "\(line)") }
    for line in [
      "let code = sqlite3_step(handle)", "keep(sqlite3_bind_int64(handle, index, value))", "defer { X509_free(certificate) }",
      "EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && true", "return SSL_write(session, bytes, 1)",
      "SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, nil)", "// SSL_set1_host(session, name)",
    ] { #expect(Self.droppedCall(line) == nil, "\(line)") }
  }
}
