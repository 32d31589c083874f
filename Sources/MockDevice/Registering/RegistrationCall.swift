import DeviceModel
import HTTPClient
import JSON
import Primitives
import Push

/// One call of an app's push handler to the gateway's control API: what is sent, and what the answer means.
enum RegistrationCall {
  /// The request that carries out `effect`: `PUT` or `DELETE /v1/registrations/{token}`, or `GET` of a channel's message.
  static func request(_ effect: DeviceEffect, _ gateway: GatewayAccess) -> BlockingHTTPClient.Request {
    let encoded = BlockingHTTPClient.percentEncoded
    let url =
      switch effect {
      case .fetchMessage(_, let bundleID, let channel, let environment):
        "\(base(gateway))/v1/channels/\(encoded(bundleID))/\(encoded(channel.description))/message"
          + (environment.map { "?environment=\($0.name)" } ?? "")
      case .teach(_, let bundleID, let schemas):
        "\(base(gateway))/v1/apps/\(encoded(bundleID))/schemas/\(encoded(schemas.attributesType))"
      case .register, .replace, .unregister: "\(base(gateway))/v1/registrations/\(effect.token.hex)"
      }
    let authorization = BlockingHTTPClient.Field("authorization", "Bearer \(gateway.accessToken)")
    let timeout = TimeSpan.milliseconds(Limits.registerMilliseconds)
    switch effect {
    case .fetchMessage: return BlockingHTTPClient.Request("GET", url, fields: [authorization], timeout: timeout)
    case .unregister: return BlockingHTTPClient.Request("DELETE", url, fields: [authorization], timeout: timeout)
    case .teach(_, _, let schemas):
      let type = BlockingHTTPClient.Field("content-type", "application/json")
      let body = Array(schemas.source.serialized().utf8)
      return BlockingHTTPClient.Request("PUT", url, fields: [authorization, type], body: body, timeout: timeout)
    case .register(let registration), .replace(_, let registration):
      let type = BlockingHTTPClient.Field("content-type", "application/json")
      var replaced: DeviceToken?
      if case .replace(let old, _) = effect { replaced = old }
      let body = Array(json(registration, replacing: replaced, upstream: gateway.upstream).serialized().utf8)
      return BlockingHTTPClient.Request("PUT", url, fields: [authorization, type], body: body, timeout: timeout)
    }
  }

  /// The request that asks what a token was registered as: `GET /v1/registrations/{token}`.
  static func question(_ token: DeviceToken, _ gateway: GatewayAccess) -> BlockingHTTPClient.Request {
    let authorization = BlockingHTTPClient.Field("authorization", "Bearer \(gateway.readToken ?? gateway.accessToken)")
    return BlockingHTTPClient.Request(
      "GET", "\(base(gateway))/v1/registrations/\(token.hex)", fields: [authorization], timeout: gateway.patience)
  }

  /// The request that asks what is known of an app's schemas: `GET /v1/apps/{bundleID}/schemas`.
  static func question(schemasOf bundleID: String, _ gateway: GatewayAccess) -> BlockingHTTPClient.Request {
    let authorization = BlockingHTTPClient.Field("authorization", "Bearer \(gateway.readToken ?? gateway.accessToken)")
    return BlockingHTTPClient.Request(
      "GET", "\(base(gateway))/v1/apps/\(BlockingHTTPClient.percentEncoded(bundleID))/schemas", fields: [authorization],
      timeout: gateway.patience)
  }

  /// Levels by which schemas stand deeper in the answer than in what set them: the list, and a key that `contentStates` leaves out.
  private static let schemaListLevels = 3

  /// The request that looks whether the gateway is there: `GET /livez`.
  static func look(_ gateway: GatewayAccess) -> BlockingHTTPClient.Request {
    BlockingHTTPClient.Request("GET", "\(base(gateway))/livez", timeout: gateway.patience)
  }

  /// The schemas in the answer; none of an app that the gateway does not know.
  static func schemas(status: Int, body: [UInt8]) -> Registrar.SchemaAnswer {
    if status == 404 { return .known([]) }
    guard status == 200, let list = (try? JSONValue.parse(wrapped: body, levels: schemaListLevels))?["schemas"]?.arrayValue else {
      return .silence(silence(status, body))
    }
    return .known(
      list.prefix(Limits.contentStatesPerApp).compactMap { known in
        var source: JSONObject = [:]
        for key in ["contentState", "attributes"] { source[key] = known[key] }
        return known["attributesType"]?.stringValue.flatMap { try? ActivitySchemas($0, .object(source), at: $0) }
      })
  }

  /// What the answer to such a question says.
  static func answer(about token: DeviceToken, status: Int, body: [UInt8]) -> Registrar.Answer {
    if status == 404 { return .notRegistered }
    guard status == 200, let registration = registration(token, body: body) else { return .silence(silence(status, body)) }
    return .registered(registration)
  }

  /// The clause about an answer that does not tell what was asked.
  private static func silence(_ status: Int, _ body: [UInt8]) -> Registrar.Silence {
    Registrar.Silence(why: status == 200 ? "the gateway's answer cannot be read" : "the gateway answered \(status)\(message(of: body))")
  }

  /// The registration in such an answer, as far as a device makes something of it; nil when it is none.
  private static func registration(_ token: DeviceToken, body: [UInt8]) -> Registration? {
    guard let json = try? JSONValue.parse(body), let kind = json["type"]?.stringValue.flatMap({ TokenKind(name: $0) }),
      let bundleID = json["bundleID"]?.stringValue
    else { return nil }
    let environment = json["environment"]?.stringValue.flatMap { PushEnvironment(name: $0) } ?? .development
    var registration = Registration(token: token, kind: kind, bundleID: bundleID, environment: environment)
    registration.device = json["device"]?.stringValue
    registration.user = json["user"]?.stringValue
    registration.platform = json["platform"]?.stringValue
    registration.widgets = (json["widgets"]?.arrayValue ?? []).prefix(Limits.widgetsPerRegistration).compactMap { widget in
      guard let kind = widget["kind"]?.stringValue, let family = widget["family"]?.stringValue else { return nil }
      return Registration.Widget(id: widget["id"]?.stringValue, kind: kind, family: family)
    }
    registration.frequentUpdates = json["frequentUpdates"]?.boolValue ?? false
    registration.developerMode = json["developerMode"]?.boolValue ?? false
    registration.controlKind = json["control"]?["kind"]?.stringValue
    if let id = json["activity"]?["id"]?.stringValue, let type = json["activity"]?["attributesType"]?.stringValue {
      registration.activity = Registration.Activity(id: id, attributesType: type)
    }
    return registration
  }

  private static func base(_ gateway: GatewayAccess) -> Substring {
    var base = gateway.url[...]
    while base.hasSuffix("/") { base.removeLast() }
    return base
  }

  /// What an answer means; 404 to a removal means that there was nothing to remove, and to a question that there is no message.
  static func outcome(_ effect: DeviceEffect, status: Int, body: [UInt8]) -> RegistrationQueue.Outcome {
    switch status {
    case 200..<300: return .done
    case 404:
      if effect.registration != nil { break }
      if case .teach = effect { break }
      return .done
    case 408, 425, 429, 500...: return .failed("the gateway answered \(status)\(message(of: body))")
    default: break
    }
    return .refused("the gateway answered \(status)\(message(of: body))")
  }

  /// What the answer to a question about a channel says of it: a gateway that has the channel and no message says 404, too.
  static func channel(status: Int, body: [UInt8]) -> ChannelCheck {
    if status == 200 { return .known }
    guard status == 404, let error = (try? JSONValue.parse(body))?["error"] else { return .unchecked }
    switch error["code"]?.stringValue {
    case Cause.channelUnknown.name: return .unknown(error["message"]?.stringValue ?? "the app has no such channel")
    case "notFound": return .known
    default: return .unchecked
    }
  }

  /// The message in the answer to a question about a channel; nil when there is none.
  static func message(_ effect: DeviceEffect, status: Int, id: String?, body: [UInt8]) -> Registrar.Message? {
    guard case .fetchMessage = effect, status == 200, let id = id.flatMap({ PushID($0) }) else { return nil }
    return Registrar.Message(id: id, payload: body)
  }

  /// The body of a registration.
  static func json(_ registration: Registration, replacing old: DeviceToken? = nil, upstream: String?) -> JSONValue {
    var object: JSONObject = [
      "type": .string(registration.kind.name), "bundleID": .string(registration.bundleID),
      "environment": .string(registration.environment.name),
    ]
    object["upstream"] = (upstream ?? registration.upstream).map { .string($0) }
    object["replaces"] = old.map { .string($0.hex) }
    object["device"] = registration.device.map { .string($0) }
    object["user"] = registration.user.map { .string($0) }
    object["platform"] = registration.platform.map { .string($0) }
    if registration.kind == .widgets {
      object["widgets"] = .array(
        registration.widgets.map { widget in
          var member: JSONObject = ["kind": .string(widget.kind), "family": .string(widget.family)]
          member["id"] = widget.id.map { .string($0) }
          return .object(member)
        })
    }
    object["control"] = registration.controlKind.map { ["kind": .string($0)] }
    object["activity"] = registration.activity.map { ["id": .string($0.id), "attributesType": .string($0.attributesType)] }
    if registration.frequentUpdates { object["frequentUpdates"] = true }
    if registration.developerMode { object["developerMode"] = true }
    return .object(object)
  }

  private static func message(of body: [UInt8]) -> String {
    guard let json = try? JSONValue.parse(body), let message = json["error"]?["message"]?.stringValue else { return "" }
    return ": \(message)"
  }
}
