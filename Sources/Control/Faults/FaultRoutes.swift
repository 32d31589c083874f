public import Faults
import JSON
import Push

/// `/v1/faults`: sets faults, tells what they have done, takes them away. A gateway and a mock device have the same.
///
/// An access token of some apps only sets faults on pushes of those, and none that touches whole connections.
public struct FaultRoutes: Sendable {
  private let book: FaultBook?
  private let refusal: String

  /// The routes to the faults of `book`; without one, each call is refused with `refusal`.
  public init(_ book: FaultBook?, unless refusal: String) {
    self.book = book
    self.refusal = refusal
  }

  /// All of them; each asks for the scope `admin`.
  public var routes: [Route] {
    [
      Route(.post, "/v1/faults", .scope(.admin), add), Route(.get, "/v1/faults", .scope(.admin), list),
      Route(.delete, "/v1/faults", .scope(.admin), removeAll), Route(.get, "/v1/faults/{id}", .scope(.admin), fault),
      Route(.delete, "/v1/faults/{id}", .scope(.admin), remove),
    ]
  }

  @Sendable private func add(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let book = try permitted()
    let specification = try routed.request.readJSON { reader throws(FieldError) in try FaultSpecification(&reader) }
    if routed.grant.bundleIDs != nil {
      guard let bundleID = specification.match.bundleID, routed.grant.sees(bundleID) else {
        throw .forbidden(
          "the access token \"\(routed.grant.name)\" is for some apps only; name one of them in match.bundleID", field: "match.bundleID")
      }
      guard specification.action.isOfPushAlone else {
        throw .forbidden(
          "the access token \"\(routed.grant.name)\" is for some apps only, and this fault touches connections that others share",
          field: "then")
      }
    }
    switch book.add(specification, for: routed.grant.bundleIDs == nil ? nil : specification.match.bundleID) {
    case .success(let rule): return .json(rule.json, status: 201)
    case .failure(let refusal): throw .conflict("\(refusal.sentence("faults")); remove some")
    }
  }

  @Sendable private func list(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let book = try permitted()
    return .json(["faults": .array(book.rules.filter { Self.sees(routed.grant, $0) }.map(\.json))])
  }

  @Sendable private func fault(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let book = try permitted()
    let id = try id(routed)
    guard let rule = book.rules.first(where: { $0.id == id }), Self.sees(routed.grant, rule) else { throw unknown(id) }
    return .json(rule.json)
  }

  @Sendable private func remove(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let book = try permitted()
    let id = try id(routed)
    guard book.remove(where: { $0.id == id && Self.sees(routed.grant, $0) }) > 0 else { throw unknown(id) }
    return .noContent
  }

  @Sendable private func removeAll(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let removed = try permitted().remove { Self.sees(routed.grant, $0) }
    return .json(["removed": .integer(Int64(removed))])
  }

  private func permitted() throws(ControlError) -> FaultBook {
    guard let book else { throw .forbidden(refusal) }
    return book
  }

  private func id(_ routed: RoutedRequest) throws(ControlError) -> Int {
    guard let id = Int(routed["id"]), id > 0 else {
      throw .badRequest("the fault in the path must be its number, such as 3, not \"\(routed["id"].prefix(32))\"", field: "id")
    }
    return id
  }

  private func unknown(_ id: Int) -> ControlError { .notFound("there is no fault \(id) here; GET /v1/faults lists them") }

  private static func sees(_ grant: Grant, _ rule: FaultRule) -> Bool {
    grant.bundleIDs == nil || rule.specification.match.bundleID.map(grant.sees) ?? false
  }
}
