import Foundation

extension Deployment {
  /// Sends many pushes over one connection with one curl, `parallel` of them at a time, and returns status and apns-id of each.
  ///
  /// - Parameters:
  ///   - pushes: The push tokens and the apns-ids.
  ///   - content: What all of them say.
  func sendAll(
    _ pushes: [(token: String, id: String)], _ content: PushContent = .reload, parallel: Int = 50
  ) async throws -> [(status: Int, id: String)] {
    let jwt = try await ProviderToken.of(self)
    let base = try url("provider")
    let sections = pushes.map { push in
      """
      url = "\(base)/3/device/\(push.token)"
      http2
      cacert = "\(state.path("ca.pem"))"
      header = "authorization: bearer \(jwt)"
      header = "apns-topic: com.example.app\(content.topicSuffix)"
      header = "apns-push-type: \(content.type)"
      header = "apns-id: \(push.id)"
      data = "\(content.body.replacingOccurrences(of: "\"", with: "\\\""))"
      output = "/dev/null"
      write-out = "%{http_code} %header{apns-id}\\n"
      """
    }
    let configuration = sections.joined(separator: "\nnext\n")
    let result = try await run(
      ["curl", "-sS", "--parallel", "--parallel-max", "\(parallel)", "-K", "-"], input: Data(configuration.utf8), within: .seconds(120))
    guard result.status == 0 else { throw HarnessError("curl: \(result.status) \(result.standardError)") }
    return result.text.split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      return (Int(words[0]) ?? 0, words.count > 1 ? String(words[1]) : "")
    }
  }
}

/// What each of many pushes says.
enum PushContent {
  /// A reload signal for widgets.
  case reload
  /// An alert with this text.
  case alert(String)

  var type: String { if case .reload = self { "widgets" } else { "alert" } }
  var topicSuffix: String { if case .reload = self { ".push-type.widgets" } else { "" } }

  var body: String {
    switch self {
    case .reload: #"{"aps":{"content-changed":true}}"#
    case .alert(let text): #"{"aps":{"alert":{"title":"Hello","body":"\#(text)"}}}"#
    }
  }
}
