import Foundation

/// One HTTP answer as curl saw it.
struct Answer: Sendable, CustomStringConvertible {
  /// `2`, `1.1` and so on.
  let version: String
  let status: Int
  /// Field lines in order, names as received.
  let fields: [(name: String, value: String)]
  let body: Data

  /// The first value of a header field, by its lower-case name.
  subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }

  /// The body as text.
  var text: String { String(decoding: body, as: UTF8.self) }

  /// The body as JSON.
  var json: Document { get throws { try Document(body) } }

  var description: String { "HTTP/\(version) \(status) \(fields.map { "\($0.name): \($0.value)" }) \(text)" }

  /// Reads what `curl -i` prints; interim answers (1xx) are passed over.
  init(parsing data: Data) throws {
    var rest = data
    while true {
      guard let end = rest.range(of: Data("\r\n\r\n".utf8)) else {
        throw HarnessError("no HTTP answer: \(String(decoding: data, as: UTF8.self))")
      }
      let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
      let first = lines[0].split(separator: " ")
      guard first.count >= 2, first[0].hasPrefix("HTTP/"), let status = Int(first[1]) else {
        throw HarnessError("no status line: \(lines[0])")
      }
      rest = rest[end.upperBound...]
      if status < 200 { continue }
      version = String(first[0].dropFirst("HTTP/".count))
      self.status = status
      fields = lines.dropFirst().map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        return (String(parts[0]), parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
      }
      body = Data(rest)
      return
    }
  }
}

/// Runs curl, and reads its answer.
///
/// - Parameters:
///   - ca: The CA to verify the server with; nil for plain HTTP.
///   - protocolOption: `--http2` (which over TLS is ALPN h2 and http/1.1), `--http1.1` or `--http2-prior-knowledge`.
func curl(
  _ method: String = "GET", _ url: String, ca: String?, headers: [String] = [], body: Data? = nil, protocolOption: String = "--http2",
  options: [String] = [], seconds: Int = 120
) async throws -> Answer {
  var command = ["curl", "-sS", "-i", protocolOption, "--max-time", "\(seconds)", "-X", method]
  if let ca { command += ["--cacert", ca] }
  for header in headers { command += ["-H", header] }
  if body != nil { command += ["--data-binary", "@-"] }
  let result = try await run(command + options + [url], input: body ?? Data(), within: .seconds(seconds + 10))
  guard result.status == 0 else { throw HarnessError("curl \(url): status \(result.status) \(result.standardError)") }
  return try Answer(parsing: result.standardOutput)
}

extension Deployment {
  private var ca: String { state.path("ca.pem") }

  /// Calls the control API with one of the access tokens of `credentials.json`, or with none.
  func control(
    _ method: String, _ path: String, _ json: String? = nil, as access: String? = "admin", face: String = "control",
    protocolOption: String = "--http2", headers: [String] = []
  ) async throws -> Answer {
    var headers = headers
    if let access {
      let credentials = try credentials()
      guard let token = credentials[access].string else { throw HarnessError("no access token \(access) in \(credentials)") }
      headers.append("authorization: Bearer \(token)")
    }
    if json != nil { headers.append("content-type: application/json") }
    let url = try url(face)
    return try await curl(
      method, url + path, ca: url.hasPrefix("https") ? ca : nil, headers: headers, body: json.map { Data($0.utf8) },
      protocolOption: protocolOption)
  }

  /// Registers a push token, and fails unless that is answered 200 or 201.
  func register(_ token: String, _ json: String, as access: String = "admin") async throws {
    let answer = try await control("PUT", "/v1/registrations/\(token)", json, as: access)
    guard answer.status == 201 || answer.status == 200 else { throw HarnessError("registration answered \(answer)") }
  }

  /// Sends one push as a backend would: curl, HTTP/2, the state folder's CA.
  func send(_ push: PushRequest, at base: String? = nil) async throws -> Answer {
    var headers: [String] = []
    if !push.fields.contains(where: { $0.name == "authorization" }) {
      headers.append("authorization: bearer \(try await ProviderToken.of(self))")
    }
    headers += push.fields.compactMap { field in field.value.map { "\(field.name): \($0)" } }
    return try await curl(
      push.method, (base ?? url("provider")) + push.path, ca: ca, headers: headers, body: push.body.map { Data($0.utf8) },
      options: push.options)
  }

  /// The whole life of a push, by its id.
  func record(_ id: String) async throws -> Document {
    let answer = try await control("GET", "/v1/pushes/\(id)", as: "read")
    guard answer.status == 200 else { throw HarnessError("no push \(id): \(answer)") }
    return try answer.json
  }

  /// The push, once it has one of these dispositions.
  @discardableResult
  func settled(_ id: String, as dispositions: String..., within limit: Duration = .seconds(120)) async throws -> Document {
    var last: Document?
    do {
      try await eventually(within: limit, "push \(id) is \(dispositions)") {
        last = try await self.record(id)
        return dispositions.contains(last?["disposition"].string ?? "")
      }
    } catch { throw HarnessError("\(error)\n\(last.map { "\($0)" } ?? "")") }
    return last!
  }
}
