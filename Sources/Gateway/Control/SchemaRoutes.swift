import Control
import JSON
import Primitives
import Push
import Security

extension ControlAPI {
  /// `/v1/apps/{bundleID}/schemas`, the one home of what an app's activities decode from.
  var schemaRoutes: [Route] {
    guard parts.settings != nil else { return [] }
    return [
      Route(.get, "/v1/apps/{bundleID}/schemas", .scope(.read), schemas),
      Route(.get, "/v1/apps/{bundleID}/schemas/{attributesType}", .scope(.read), schemasOfType),
      Route(.put, "/v1/apps/{bundleID}/schemas/{attributesType}", .scope(.register), hasPowersOfAdmin: true, setSchemas),
      Route(.delete, "/v1/apps/{bundleID}/schemas/{attributesType}", .scope(.admin), removeSchemas),
    ]
  }

  @Sendable private func schemas(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let bundleID = try visibleBundleID(routed)
    var answer: JSONObject = ["schemas": .array(try known(bundleID, routed.grant).map { .object($0.json) })]
    let leftOut = parts.settings?.leftOut(of: bundleID) ?? []
    if !leftOut.isEmpty {
      answer["leftOut"] = .array(
        leftOut.map { ["attributesType": .string($0.schemas.attributesType), "origin": .string($0.origin.rawValue)] })
    }
    return try self.answer(.object(answer), to: routed.request)
  }

  @Sendable private func schemasOfType(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let bundleID = try visibleBundleID(routed)
    return try answer(.object(try found(routed["attributesType"], bundleID, routed.grant).json), to: routed.request)
  }

  /// Sets the schemas of a type. With the scope `admin` they win over all others; else they are those that the app brings along, for a type
  /// that neither the configuration nor `admin` has set.
  @Sendable private func setSchemas(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let (bundleID, type) = (try visibleBundleID(routed), try typeName(routed))
    guard routed.request.body.count <= Limits.schemaBytes else {
      throw ControlError.tooLarge(bytesMax: Limits.schemaBytes)
    }
    let value = try routed.request.json()
    let schemas: ActivitySchemas
    do throws(FieldError) {
      schemas = try ActivitySchemas(type, value, at: "")
    } catch {
      throw ControlError(error)
    }
    _ = try known(bundleID, routed.grant)
    let isAdmin = routed.grant.permits(.admin)
    let isNew = try change(schemas, of: type, bundleID, as: isAdmin ? .api : .app, routed) { present in
      guard let present, !isAdmin, present.origin != .app else { return nil }
      let place = present.origin == .configuration ? "the configuration has them" : "somebody with the scope admin has set them"
      return "schemas of \(type) are set already, since \(place); the app's own are not taken"
    }
    let json = JSONValue.object(try found(type, bundleID, routed.grant).json)
    var response = HTTPResponse.json(json, status: isNew ? 201 : 200)
    response.fields.append("etag", Self.tag(of: json).text)
    return response
  }

  /// Takes back what was set at run time, or what the app has brought along.
  @Sendable private func removeSchemas(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let (bundleID, type) = (try visibleBundleID(routed), try typeName(routed))
    let present = try found(type, bundleID, routed.grant)
    if present.origin == .configuration {
      throw .conflict("the schemas of \(type) stand in the configuration; take them out there")
    }
    _ = try change(nil, of: type, bundleID, as: present.origin, routed) { _ in nil }
    return .noContent
  }

  /// - Parameter objection: Why the change is not to be made by what is known before it; nil where it is.
  private func change(
    _ schemas: ActivitySchemas?, of type: String, _ bundleID: String, as origin: KnownSchemas.Origin, _ routed: RoutedRequest,
    objection: (KnownSchemas?) -> String?
  ) throws(ControlError) -> Bool {
    guard let settings = parts.settings else { preconditionFailure("the routes are there only with settings") }
    let condition = try EntityCondition(routed.request)
    let change: LiveSettings.Change
    do throws(SchemaObjection) {
      change = try settings.setSchemas(schemas, of: type, app: bundleID, as: origin) { present throws(SchemaObjection) in
        let tag = present.map { Self.tag(of: .object($0.json)) }
        if case .failed(let field) = condition.outcome(tag) { throw .otherState(field: field, tag) }
        if let objection = objection(present) { throw .conflict(objection) }
      }
    } catch {
      switch error {
      case .conflict(let message): throw .conflict(message)
      case .otherState(let field, let tag):
        throw ControlError(
          status: 412, code: "preconditionFailed",
          message: tag.map { "schemas of \(type) are known, and their ETag is \($0.text)" } ?? "no schemas of \(type) are known",
          field: field)
      }
    }
    switch change {
    case .made(let isNew):
      parts.recordings.changed(app: bundleID, at: now)
      return isNew
    case .unknown: throw noSuchApp(bundleID, routed.grant)
    case .refused(let error): throw ControlError(error)
    case .full: throw .conflict("there are \(Limits.apps) apps, which is the most; delete apps that are not needed")
    case .noRoom: throw .conflict("the app has \(Limits.contentStatesPerApp) attributes types with schemas, which is the most")
    case .broughtTooMuch(let excess):
      throw .conflict("\(excess); somebody with the scope admin may set them, or remove others")
    case .tooMuch(let bytes):
      throw .conflict("the settings of all apps together would have \(bytes) bytes, and \(Limits.savedAppsBytes) are kept; remove schemas")
    case .notKept(let reason): throw .unavailable("the schemas cannot be kept, so nothing was changed: \(reason)")
    }
  }

  private func typeName(_ routed: RoutedRequest) throws(ControlError) -> String {
    let type = routed["attributesType"]
    guard type.utf8.count <= Limits.nameBytes, ActivitySchemas.isTypeName(type) else {
      throw .badRequest(
        "\"\(String(type.prefix(64)).escapingSteering())\" is not \(ActivitySchemas.nameForm), at most \(Limits.nameBytes) bytes",
        field: "attributesType")
    }
    return type
  }

  private func known(_ bundleID: String, _ grant: Grant) throws(ControlError) -> [KnownSchemas] {
    guard let known = parts.settings?.schemas(of: bundleID) else { throw noSuchApp(bundleID, grant) }
    return known
  }

  private func found(_ type: String, _ bundleID: String, _ grant: Grant) throws(ControlError) -> KnownSchemas {
    let known = try known(bundleID, grant)
    guard let found = known.first(where: { $0.schemas.attributesType == type }) else {
      let names = known.map(\.schemas.attributesType)
      let hint =
        nearestName(to: type, among: names).map { "did you mean \"\($0)\"?" }
        ?? (names.isEmpty ? "there are none of this app yet" : "known are \(names.joined(separator: ", "))")
      throw .notFound("no schemas of \"\(type.prefix(64))\" are known for \(bundleID); \(hint)")
    }
    return found
  }

  private func answer(_ json: JSONValue, to request: HTTPRequest) throws(ControlError) -> HTTPResponse {
    let tag = Self.tag(of: json)
    var response: HTTPResponse
    switch try EntityCondition(request).outcome(tag) {
    case .met: response = .json(json)
    case .notModified: response = HTTPResponse(status: 304)
    case .failed(let field):
      throw ControlError(status: 412, code: "preconditionFailed", message: "the answer's ETag is \(tag.text)", field: field)
    }
    response.fields.append("etag", tag.text)
    return response
  }

  /// The entity tag of an answer: the first half of its SHA-256.
  private static func tag(of json: JSONValue) -> EntityTag {
    EntityTag(Hexadecimal.encode(SHA256.hash(json.serialized()).prefix(16)))
  }
}

/// Why schemas are not changed, by what is known of the type before.
private enum SchemaObjection: Error {
  /// The request is for another state than the one with that tag.
  case otherState(field: String, EntityTag?)
  case conflict(String)
}
