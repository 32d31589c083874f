import Foundation
import Testing

/// `schemas from-swift`, as a person at a terminal uses it.
@Suite("Schemas of Swift files", .processes) struct SchemasCommandTests {
  private func widgetpush(_ arguments: String...) async throws -> CommandResult { try await run([Deployment.executable] + arguments) }

  /// What it prints is what `lint --schema` takes.
  @Test func aFileBecomesSchemasThatLintGoesBy() async throws {
    let folder = try Folder()
    let file = try folder.write(
      "DeliveryAttributes.swift",
      """
      import ActivityKit
      struct DeliveryAttributes: ActivityAttributes {
        struct ContentState: Codable, Hashable { var stops: Int; var eta: Date }
        let order: String
      }
      """)
    let made = try await widgetpush("schemas", "from-swift", file)
    #expect(made.status == 0, "\(made.standardError)")
    let json = try #require(try JSONSerialization.jsonObject(with: Data(made.text.utf8)) as? [String: [String: Any]])
    let schemas = try #require(json["DeliveryAttributes"])
    #expect((schemas["attributes"] as? [String: Any])?["required"] as? [String] == ["order"])
    let state = try JSONSerialization.data(withJSONObject: try #require(schemas["contentState"]))
    let schema = try folder.write("state.schema.json", String(decoding: state, as: UTF8.self))
    let payload = try folder.write(
      "payload.json",
      #"{"aps":{"timestamp":1796000000,"event":"update","content-state":{"stops":1.5,"eta":817692800}}}"#)
    let lint = try await widgetpush("lint", payload, "--type", "liveactivity", "--schema", schema)
    #expect(lint.text.contains("aps.content-state.stops"), "\(lint.text) \(lint.standardError)")
  }

  @Test func whatIsNotUnderstoodIsNamedWithItsPlace() async throws {
    let folder = try Folder()
    let file = try folder.write(
      "A.swift", "struct A: ActivityAttributes {\n  struct ContentState: Codable {\n    var tint: Color\n    var x: Int } }")
    let refused = try await widgetpush("schemas", "from-swift", file)
    #expect(refused.status == 1 && refused.text.isEmpty)
    #expect(refused.standardError.contains("\(file):3:15: Color is no type of this file"), "\(refused.standardError)")
    let partial = try await widgetpush("schemas", "from-swift", file, "--partial")
    #expect(partial.status == 0 && partial.text.contains("not understood") && partial.standardError.contains("Color"), "\(partial.text)")
    #expect(try await widgetpush("schemas", "from-swfit", file).standardError.contains("did you mean from-swift?"))
    #expect(try await widgetpush("schemas", "from-swift", folder.path("none.swift")).status == 1)
  }
}
