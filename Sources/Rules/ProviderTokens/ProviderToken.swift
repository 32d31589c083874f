import JSON
import Primitives
import Push

/// A provider token (JWT) read from an `authorization` header, its signature not checked yet.
///
/// Source: Apple, "Establishing a token-based connection to APNs"; the encodings are those of real clients (clients.md):
///
/// - `bearer` in any letter case,
/// - each part in base64url or in standard base 64, padded or not,
/// - spaces within the JSON, claims and header fields beyond Apple's,
/// - `iat` as an integer, a fraction or a numeric string,
/// - the signature as r and s or as ASN.1 DER, and `alg` ES512 with a P-256 key.
struct ProviderToken {
  /// The header's `kid`.
  var keyID: String
  /// The header's `alg`.
  var algorithm: ProviderTokenAlgorithm
  /// The claim `iss`.
  var teamID: String
  /// The claim `iat` in whole Unix seconds; an `Instant` could not hold one in milliseconds.
  var issuedAt: Int64
  /// Where the signed bytes stand in the header's value: both first parts and the dot between them.
  var signed: ByteRange
  /// The signature, decoded.
  var signature: [UInt8]

  /// Why a token cannot be read: a detail without a period.
  struct Unreadable: Error {
    var detail: String
    init(_ detail: String) { self.detail = "the provider token " + detail }
  }

  /// The token in the value of an `authorization` header.
  init(authorization: RawSpan) throws(Unreadable) {
    guard authorization.byteCount <= Limits.authorizationBytes else {
      throw Unreadable("must have at most \(Limits.authorizationBytes) bytes, not \(authorization.byteCount)")
    }
    guard let range = Self.credentials(authorization) else {
      throw Unreadable("must follow the word bearer and a space in the authorization header")
    }
    let parts = try Self.parts(authorization, range)
    signed = ByteRange(offset: Int(parts.0.offset), count: Int(parts.0.count + 1 + parts.1.count))
    let header = try Self.decode(authorization[parts.0], "header")
    let claims = try Self.decode(authorization[parts.1], "claims")
    (keyID, algorithm) = try Self.readHeader(header)
    (teamID, issuedAt) = try Self.readClaims(claims)
    guard let signature = Base64.decode(authorization[parts.2]), !signature.isEmpty else {
      throw Unreadable("must have a signature in base64url after its second dot")
    }
    self.signature = signature
  }

  /// Whether the header has no token at all: nothing, or nothing after `bearer`.
  static func isMissing(_ authorization: RawSpan) -> Bool {
    guard let start = (0..<authorization.byteCount).first(where: { authorization.byte($0) != UInt8(ascii: " ") }) else { return true }
    return credentials(authorization)?.isEmpty ?? (authorization.byteCount - start == 6 && isBearer(authorization.extracting(start...)))
  }

  /// What follows `bearer` and spaces, without spaces at the end; nil when the scheme is another.
  private static func credentials(_ authorization: RawSpan) -> ByteRange? {
    guard authorization.byteCount >= 7, isBearer(authorization), authorization.byte(6) == UInt8(ascii: " ") else { return nil }
    var start = 7
    var end = authorization.byteCount
    while start < end, authorization.byte(start) == UInt8(ascii: " ") { start += 1 }
    while end > start, authorization.byte(end - 1) == UInt8(ascii: " ") { end -= 1 }
    return ByteRange(offset: start, count: end - start)
  }

  /// Whether the first six bytes are `bearer` in any letter case.
  private static func isBearer(_ text: RawSpan) -> Bool {
    guard text.byteCount >= 6 else { return false }
    var word = InlineArray<6, UInt8>(repeating: 0)
    for index in 0..<6 { word[index] = text.byte(index) | 0x20 }
    return unsafe word.span.bytes.equals("bearer")
  }

  private static func parts(_ bytes: RawSpan, _ range: ByteRange) throws(Unreadable) -> (ByteRange, ByteRange, ByteRange) {
    let (start, end) = (Int(range.offset), Int(range.offset + range.count))
    let dots = (start..<end).filter { bytes.byte($0) == UInt8(ascii: ".") }
    guard dots.count == 2 else { throw Unreadable("must have three parts separated by dots, not \(dots.count + 1)") }
    return (
      ByteRange(offset: start, count: dots[0] - start), ByteRange(offset: dots[0] + 1, count: dots[1] - dots[0] - 1),
      ByteRange(offset: dots[1] + 1, count: end - dots[1] - 1)
    )
  }

  private static func decode(_ part: RawSpan, _ name: String) throws(Unreadable) -> JSONValue {
    guard let bytes = Base64.decode(part) else { throw Unreadable("must have its \(name) in base64url") }
    do {
      let value = try JSONValue.parse(bytes)
      guard value.objectValue != nil else { throw Unreadable("must have a JSON object as its \(name), not \(value.kindName)") }
      return value
    } catch let error as JSONError {
      throw Unreadable("must have JSON as its \(name): \(error)")
    } catch let error as Unreadable {
      throw error
    } catch {
      preconditionFailure("both errors are caught")
    }
  }

  private static func readHeader(_ header: JSONValue) throws(Unreadable) -> (String, ProviderTokenAlgorithm) {
    guard let name = header["alg"]?.stringValue else { throw Unreadable("must have \"alg\":\"ES256\" in its header") }
    guard let algorithm = ProviderTokenAlgorithm(rawValue: name) else {
      throw Unreadable("must be signed with ES256, not \(JSONValue.string(name).serialized())")
    }
    guard let keyID = header["kid"]?.stringValue, !keyID.isEmpty else {
      throw Unreadable("must have the key's id as the string kid in its header")
    }
    return (keyID, algorithm)
  }

  private static func readClaims(_ claims: JSONValue) throws(Unreadable) -> (String, Int64) {
    guard let teamID = claims["iss"]?.stringValue, !teamID.isEmpty else {
      throw Unreadable("must have the team's id as the string iss in its claims")
    }
    let issued = claims["iat"]
    guard let seconds = issued?.doubleValue ?? issued?.stringValue.flatMap(Double.init), seconds.isFinite else {
      throw Unreadable("must have the time of its making as iat in its claims, in Unix seconds")
    }
    return (teamID, Int64(max(-9e18, min(9e18, seconds))))
  }
}
