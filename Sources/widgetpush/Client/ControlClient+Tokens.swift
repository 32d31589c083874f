import HTTPClient
import JSON
import Push

extension ControlClient {
  /// The registered token that begins with `prefix`, or `prefix` itself where it is a whole one; throws when several do.
  func fullToken(_ prefix: String) throws(CommandError) -> String {
    let digits = prefix.lowercased()
    guard !digits.isEmpty, digits.allSatisfy(\.isHexDigit) else {
      throw CommandError(
        DeviceToken.complaint(aboutPrinted: prefix) ?? "\"\(prefix)\" is not a push token, which is made of hexadecimal digits")
    }
    if digits.count >= 64 { return digits }
    if try call("GET", "/v1/registrations/\(digits)").isSuccess { return digits }
    var found: [String] = []
    var after = ""
    while true {
      let page = try get("/v1/registrations?limit=\(Limits.pageRows)\(after)")
      for row in page["registrations"]?.arrayValue ?? [] {
        if let token = row["token"]?.stringValue, token.hasPrefix(digits) { found.append(token) }
      }
      guard let next = page["next"]?.stringValue, found.count < 9 else { break }
      after = "&after=\(BlockingHTTPClient.percentEncoded(next))"
    }
    guard found.count <= 1 else {
      throw CommandError("\"\(prefix)\" may mean:\n  \(found.prefix(8).joined(separator: "\n  "))\(found.count > 8 ? "\n  and more" : "")")
    }
    return found.first ?? digits
  }
}
