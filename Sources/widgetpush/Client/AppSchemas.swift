import HTTPClient
import JSON
import Push

/// The schemas of one app at a gateway that runs.
struct AppSchemas {
  private let client: ControlClient
  private let path: String

  init(_ client: ControlClient, bundleID: String) throws(UsageError) {
    guard AppDirectory.isBundleID(bundleID) else {
      throw UsageError("--app takes a bundle id such as com.example.app, not \"\(bundleID)\"")
    }
    self.client = client
    path = "/v1/apps/\(bundleID)/schemas"
  }

  /// The schemas in a file, by attributes type.
  ///
  /// - Parameter type: The type, where the file has those of one alone.
  static func read(_ file: String, type: String?) throws(CommandError) -> JSONObject {
    let types: [ActivitySchemas]
    switch (try SchemaFile(file), type) {
    case (.types(let list), nil): types = list
    case (.types(let list), let type?):
      guard let one = list.schemas(of: type) else {
        throw CommandError("\(file) has no schemas of \(type), only of \(list.map(\.attributesType).joined(separator: ", "))")
      }
      types = [one]
    case (.one(let source), let type?):
      do { types = [try ActivitySchemas(type, source, at: "schemas")] } catch { throw CommandError("\(file): \(error)") }
    case (.one, nil):
      throw CommandError(
        "\(file) does not say of which type its schemas are; name it with --type TYPE, or write {\"TYPE\": {\"contentState\": SCHEMA}}")
    }
    return types.json.objectValue ?? [:]
  }

  func list() throws -> [JSONValue] { try client.get(path)["schemas"]?.arrayValue ?? [] }

  func show(_ type: String) throws -> JSONValue { try client.get(place(of: type)) }

  /// Sets all of them; the names of their types.
  func set(_ types: JSONObject) throws -> [String] {
    for (type, schemas) in types {
      let answer = try client.call("PUT", place(of: type), schemas)
      guard answer.isSuccess else { throw CommandError(answer) }
    }
    return types.keys
  }

  /// Removes those of a type that hold; whose they were, and whose hold now, nil for none.
  func remove(_ type: String) throws -> (removed: String, now: String?) {
    let removed = try show(type)["origin"]?.stringValue ?? ""
    let answer = try client.call("DELETE", place(of: type))
    guard answer.isSuccess else { throw CommandError(answer) }
    return (removed, try list().first { $0["attributesType"]?.stringValue == type }?["origin"]?.stringValue)
  }

  /// Whose schemas of that origin are, in words.
  static func owner(_ origin: String) -> String {
    switch origin {
    case "api": "those that were set"
    case "app": "those that the app brought along"
    case "configuration": "those of the configuration"
    default: origin
    }
  }

  /// A row for each type.
  static func table(of list: [JSONValue]) -> String {
    guard !list.isEmpty else { return "no schemas are known for this app" }
    let rows = list.map { known in
      [
        known["attributesType"]?.stringValue ?? "", known["contentState"] == nil ? "-" : "yes", known["attributes"] == nil ? "-" : "yes",
        known["origin"]?.stringValue ?? "",
      ]
    }
    return Table.lines([["type", "content-state", "attributes", "from"]] + rows).joined(separator: "\n")
  }

  private func place(of type: String) -> String { "\(path)/\(BlockingHTTPClient.percentEncoded(type))" }
}

/// A file with schemas in one of its forms.
enum SchemaFile {
  /// `{"contentState"?, "attributes"?}` of a type that the file does not name; the schema of a content-state alone becomes that, too.
  case one(JSONValue)
  /// Those of each attributes type, by its name.
  case types([ActivitySchemas])

  /// Reads a file; throws what is wrong with it.
  init(_ path: String) throws(CommandError) {
    do {
      let value = try JSONValue.parse(try Files.bytes(path))
      let parts = ["contentState", "attributes"]
      let keys = value.objectValue?.keys ?? []
      if value.objectValue != nil, keys.isEmpty { throw FieldError(field: "schemas", message: "there are none in it") }
      if keys.allSatisfy(parts.contains), !keys.isEmpty {
        _ = try ActivitySchemas("", value, at: "schema")
        self = .one(value)
      } else if !keys.isEmpty, keys.allSatisfy({ !(CodableSchema.keywords + CodableSchema.remarks).contains($0) }),
        keys.allSatisfy({ value[$0]?.objectValue?.keys.contains(where: parts.contains) == true })
      {
        self = .types(try ActivitySchemas.list(value, at: "schemas", max: Limits.contentStatesPerApp))
      } else {
        _ = try ActivitySchemas("", contentState: value, at: "schema")
        self = .one(["contentState": value])
      }
    } catch {
      throw CommandError("\(path) has no schemas that are understood here: \(error)")
    }
  }
}
