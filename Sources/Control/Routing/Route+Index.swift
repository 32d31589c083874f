import JSON

extension Route {
  /// `GET /`: whoever comes without a path is told what there is. Open to all, since it describes the program alone.
  ///
  /// - Parameter routes: What it lists, besides itself.
  public static func index(of routes: [Route]) -> Route {
    var answer: JSONObject = ["name": "widgetpush"]
    if routes.contains(where: { $0.pattern == "/openapi.yaml" }) { answer["description"] = "/openapi.yaml" }
    answer["routes"] = .array(routes.map { .string("\($0.method) \($0.pattern)") })
    let response = HTTPResponse.json(.object(answer))
    return Route(.get, "/", .open) { _ in response }
  }
}
