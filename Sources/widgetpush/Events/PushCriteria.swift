import HTTPClient
import Primitives
import Push

/// Which pushes a command is about, as its options say: those of `GET /v1/pushes` and `GET /v1/events`.
struct PushCriteria {
  private var criteria: [(name: String, value: String)] = []

  /// These criteria, by the names of the parameters and in the form that a URL takes.
  init(_ criteria: [(name: String, value: String)]) { self.criteria = criteria }

  /// The criteria that the options name.
  init(_ arguments: Arguments, _ client: ControlClient) throws {
    if let token = arguments.value("--token") { criteria.append(("token", try client.fullToken(token))) }
    if let bundleID = arguments.value("--bundle-id") {
      guard !bundleID.isEmpty else { throw UsageError("--bundle-id is empty; leave it out for any app") }
      criteria.append(("bundleID", BlockingHTTPClient.percentEncoded(bundleID)))
    }
    if let type = try arguments.choice("--type", of: PushType.allCases.map(\.description)) { criteria.append(("type", type)) }
    if let disposition = try arguments.choice("--disposition", of: Disposition.allCases.map(\.name)) {
      criteria.append(("disposition", disposition))
    }
    if let cause = arguments.value("--cause") {
      let names = Cause.allCases.filter { $0 != .none }.map(\.name)
      guard names.contains(cause) else {
        let hint = nearestName(to: cause, among: names).map { "; did you mean \"\($0)\"?" } ?? "; docs/causes.md lists them"
        throw UsageError("--cause must be the name of a cause, such as priorityLowered, not \"\(cause)\"\(hint)")
      }
      criteria.append(("cause", cause))
    }
    if let reload = arguments.value("--reload") {
      guard PushID(reload) != nil else { throw UsageError("--reload must be the id of a reload, a UUID, not \"\(reload)\"") }
      criteria.append(("reload", reload))
    }
  }

  /// The token, where nothing else is asked for.
  var onlyToken: String? { criteria.count == 1 && criteria[0].name == "token" ? criteria[0].value : nil }

  /// They and `further` parameters as the query of a URL, with its question mark; empty without any.
  func query(_ further: [String] = []) -> String {
    let all = criteria.map { "\($0.name)=\($0.value)" } + further
    return all.isEmpty ? "" : "?" + all.joined(separator: "&")
  }
}
