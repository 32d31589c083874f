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
    do {
      let value = try JSONValue.parse(try Files.bytes(file))
      let types: [ActivitySchemas] =
        if let type { [try ActivitySchemas(type, value, at: "schemas")] } else {
          try ActivitySchemas.list(value, at: "schemas", max: Limits.contentStatesPerApp)
        }
      return types.json.objectValue ?? [:]
    } catch {
      throw CommandError("\(file) has no schemas that are understood here: \(error)")
    }
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

  func remove(_ type: String) throws {
    let answer = try client.call("DELETE", place(of: type))
    guard answer.isSuccess else { throw CommandError(answer) }
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
