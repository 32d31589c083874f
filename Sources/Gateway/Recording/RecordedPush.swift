import Control
package import JSON
package import Primitives
package import Push

/// A request to send a push, with everything that it takes to send it again; never with what it was authorized by.
package struct RecordedPush: Hashable, Sendable {
  /// A header field as it was sent.
  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The id that was answered.
  package var id: PushID
  /// When it came, by the sender's clock, which its dates are read by.
  package var sent: Instant
  /// The method.
  package var method = "POST"
  /// The path as it was sent; `/3/device/` and the push token, where nothing is wrong with it.
  package var path: String
  /// The `apns-` header fields in their order, those that stand twice included.
  package var fields: [Field]
  /// The body, as far as the gateway has kept it.
  package var payload: [UInt8]

  /// A push with these values.
  package init(id: PushID, sent: Instant, method: String = "POST", path: String, fields: [Field], payload: [UInt8]) {
    self.id = id
    self.sent = sent
    self.method = method
    self.path = path
    self.fields = fields
    self.payload = payload
  }

  /// What stands before the push token in a path.
  package static let pathBegin = "/3/device/"

  /// The push token of the path, where it can be one.
  package var token: DeviceToken? { path.hasPrefix(Self.pathBegin) ? DeviceToken(hex: String(path.dropFirst(Self.pathBegin.count))) : nil }

  /// The value of the first field of that name.
  package func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}

// MARK: In a file

extension RecordedPush {
  /// The push as a line of a recording has it. A payload that is compact JSON stands there as such, any other as text or in base 64: what
  /// is read back is the same to the byte.
  package func json(at: Instant) -> JSONValue {
    var object: JSONObject = ["id": .string(id.description)]
    if sent != at { object["sent"] = .string(sent.preciseDescription) }
    if method != "POST" { object["method"] = .string(method) }
    if let token, Self.pathBegin + token.hex == path { object["token"] = .string(token.hex) } else { object["path"] = .string(path) }
    var headers: JSONObject = [:]
    for field in fields {
      switch headers[field.name] {
      case nil: headers[field.name] = .string(field.value)
      case .array(let earlier)?: headers[field.name] = .array(earlier + [.string(field.value)])
      case let earlier?: headers[field.name] = .array([earlier, .string(field.value)])
      }
    }
    object["headers"] = .object(headers)
    if let value = Self.object(payload), Array(value.serialized(verbatim: true).utf8) == payload {
      object["payload"] = value
    } else if let text = String(validating: payload, as: UTF8.self) {
      if !text.isEmpty { object["payloadText"] = .string(text) }
    } else {
      object["payloadBase64"] = .string(Base64.encode(payload, .standard))
    }
    return .object(object)
  }

  /// The object that `payload` spells, if it can stand in a line, which is two levels deeper.
  private static func object(_ payload: [UInt8]) -> JSONValue? {
    var scanner = unsafe JSONScanner(payload.span.bytes, depthMax: JSONValue.depthMax - 2, refusesDuplicates: false)
    guard let value = try? scanner.readValue(), (try? scanner.finish()) != nil, value.objectValue != nil else { return nil }
    return value
  }

  /// The push of such an object.
  init(_ reader: inout JSONReader, at: Instant) throws(FieldError) {
    let text = try reader.string("id")
    guard let id = PushID(text) else { throw reader.error("id", "must be a UUID, not \"\(text.prefix(64))\"") }
    self.id = id
    sent = try reader.optionalInstant("sent") ?? at
    method = try reader.optionalString("method") ?? "POST"
    if let token = try reader.optionalString("token") {
      path = Self.pathBegin + token
    } else if let path = try reader.optionalString("path") {
      self.path = path
    } else {
      throw reader.error("token", "is missing, and path, too")
    }
    fields = []
    if let value = reader.optionalValue("headers") {
      guard let headers = value.objectValue else { throw reader.error("headers", "must be an object, not \(value.kindName)") }
      for (name, value) in headers {
        for value in value.arrayValue ?? [value] {
          guard let text = value.stringValue else { throw reader.error("headers.\(name)", "must be a string, or several in an array") }
          fields.append(Field(name, text))
        }
      }
    }
    if let value = reader.optionalValue("payload") {
      payload = Array(value.serialized(verbatim: true).utf8)
    } else if let text = try reader.optionalString("payloadText") {
      payload = Array(text.utf8)
    } else if let text = try reader.optionalString("payloadBase64") {
      guard let bytes = Base64.decode(text) else { throw reader.error("payloadBase64", "must be base 64") }
      payload = bytes
    } else {
      payload = []
    }
    try reader.finish()
  }
}

extension JSONReader {
  /// A time, or nil where there is none.
  mutating func optionalInstant(_ name: String) throws(FieldError) -> Instant? {
    guard let text = try optionalString(name) else { return nil }
    // Beyond what an instant holds, from 1677 to 2262, it would be another time.
    guard let instant = Instant(rfc3339: text), abs(instant.unixSeconds) < Int64.max / 1_000_000_000 else {
      throw error(name, "must be a time of the years 1678 to 2261, such as 2027-01-31T12:00:00Z, not \"\(text.prefix(64))\"")
    }
    return instant
  }
}
