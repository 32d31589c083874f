import Foundation
import Synchronization

/// Provider tokens made with openssl, in every form that real clients send.
enum ProviderToken {
  /// How the three parts are written and signed.
  enum Form: String, CaseIterable, Sendable {
    /// Signature r and s of 32 bytes each, base64url: most libraries.
    case raw
    /// ASN.1 signature, base64url: Pushy, apnotic and Apple's recipe with openssl.
    case der
    /// ASN.1 signature, everything in padded standard base 64: a2, CleverTap.
    case paddedDER
    /// Raw signature in padded standard base 64: dotAPNS.
    case paddedRaw
    /// SHA-512 and halves of 66 bytes, announced as ES512: pushok.
    case es512
  }

  private static let cache = Mutex<[String: String]>([:])

  /// A good token for the provider key in a deployment's state folder, signed once.
  static func of(_ deployment: Deployment) async throws -> String {
    if let known = cache.withLock({ $0[deployment.state.path] }) { return known }
    let token = try await make(deployment)
    cache.withLock { $0[deployment.state.path] = token }
    return token
  }

  /// A token made as asked.
  ///
  /// - Parameters:
  ///   - claims: The claims as JSON text; nil takes the key's team and now.
  ///   - header: The header as JSON text; nil takes the key's id.
  ///   - key: The file of the private key; nil takes the deployment's own.
  static func make(
    _ deployment: Deployment, form: Form = .der, header: String? = nil, claims: String? = nil, key: String? = nil
  ) async throws -> String {
    let credentials = try deployment.credentials()
    let (kid, team, file) = (credentials["keyID"].string ?? "", credentials["teamID"].string ?? "", credentials["keyFile"].string ?? "")
    let header = header ?? #"{ "alg": "\#(form == .es512 ? "ES512" : "ES256")", "kid": "\#(kid)" }"#
    let claims = claims ?? #"{ "iss": "\#(team)", "iat": \#(Int(Date().timeIntervalSince1970)) }"#
    let isPadded = form == .paddedDER || form == .paddedRaw
    let signed = encode(Data(header.utf8), padded: isPadded) + "." + encode(Data(claims.utf8), padded: isPadded)
    let keyFile = key ?? (file.hasPrefix("/") ? file : deployment.state.path(file))
    let der = try await output(
      ["openssl", "dgst", "-binary", form == .es512 ? "-sha512" : "-sha256", "-sign", keyFile], input: Data(signed.utf8))
    let signature =
      switch form {
      case .der, .paddedDER: der
      case .raw, .paddedRaw: try raw(der, half: 32)
      case .es512: try raw(der, half: 66)
      }
    return signed + "." + encode(signature, padded: isPadded)
  }

  /// A new P-256 key in a file of that folder.
  static func newKey(in folder: Folder, name: String) async throws -> String {
    _ = try await output(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", folder.path(name)])
    return folder.path(name)
  }

  private static func encode(_ data: Data, padded: Bool) -> String {
    let text = data.base64EncodedString()
    guard !padded else { return text }
    return text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }

  /// SEQUENCE { INTEGER r, INTEGER s } as two halves of fixed length.
  private static func raw(_ der: Data, half: Int) throws -> Data {
    let bytes = [UInt8](der)
    var result = Data()
    var index = 2
    for _ in 0..<2 {
      guard bytes[0] == 0x30, bytes[1] < 0x80, index + 1 < bytes.count, bytes[index] == 2 else {
        throw HarnessError("not an ECDSA signature")
      }
      let count = Int(bytes[index + 1])
      let integer = bytes[(index + 2)..<(index + 2 + count)].drop { $0 == 0 }
      result += [UInt8](repeating: 0, count: half - integer.count) + integer
      index += 2 + count
    }
    return result
  }
}

/// A push token of 32 random bytes, in hexadecimal.
func newToken(_ bytes: Int = 32) -> String { (0..<bytes).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined() }

/// A random UUID of digits and lower-case letters.
func newID() -> String { UUID().uuidString.lowercased() }
