import Control
import DeviceModel
import Foundation
import MockDevice
import Primitives
import Push
import Testing
import YAML

@testable import widgetpush

/// `docs/openapi` names every route that a `dev` has, with what it asks for, and none that it has not.
@Suite("OpenAPI files") struct OpenAPITests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("docs/openapi")

  private static func document(_ name: String) throws -> YAMLNode {
    try #require(try YAML.parse(String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)))
  }

  /// The operations of a file: `GET /v1/pushes/{id}`, each with what it asks for.
  private static func described(_ name: String) throws -> [String: String] {
    var operations: [String: String] = [:]
    let document = try document(name)
    // What holds for operations that say nothing of it.
    let standard = document["security"]
    for (path, item) in document["paths"].entries {
      for (method, operation) in item.entries where method != "parameters" {
        let security = operation["security"] ?? standard
        let scopes: [String] = security.items.flatMap { (node: YAMLNode) in node["accessToken"].items.compactMap { $0.text } }
        operations["\(method.uppercased()) \(path)"] =
          operation["x-access"].text ?? (scopes.isEmpty ? "open" : scopes.joined(separator: ","))
      }
    }
    return operations
  }

  private static func served(_ routes: [Route]) -> [String: String] {
    Dictionary(
      routes.map { route in
        let access =
          switch route.access {
          case .open: "open"
          case .localhost: "localhost"
          case .localScope(let scope): "localhost-\(scope.rawValue)"
          case .scope(let scope): scope.rawValue
          }
        return ("\(route.method) \(route.pattern)", access)
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The binary has the files as they are, for whoever has the binary alone.
  @Test func theBinaryHasTheFiles() throws {
    for (file, name) in [(OpenAPIFile.control, "control.yaml"), (.device, "device.yaml")] {
      #expect(try Data(file.bytes) == Data(contentsOf: Self.folder.appendingPathComponent(name)))
    }
  }

  @Test func everyRouteIsDescribedAndNothingElse() async throws {
    let folder = try TemporaryFolder()
    let routes = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            var options = DevServer.Options()
            (options.providerPort, options.controlPort, options.devicePort, options.plainPort) = (0, 0, 0, 0)
            let server = try DevServer(options, DevState.prepare(folder.state, now: Machine.now)) { _, _ in }
            defer { server.drain() }
            return server.routes
          })
      }
    }
    for (name, routes) in [("control.yaml", routes.control), ("device.yaml", routes.device)] {
      let (described, served) = (try Self.described(name), Self.served(routes))
      #expect(Set(described.keys).subtracting(served.keys) == [], "in \(name), and not served")
      #expect(Set(served.keys).subtracting(described.keys) == [], "served, and not in \(name)")
      for (operation, access) in served { #expect(described[operation] == access, "\(name): \(operation)") }
    }
  }

  @Test(arguments: ["control.yaml", "device.yaml"]) func everyOperationIsWhole(name: String) throws {
    let document = try Self.document(name)
    var ids: [String] = []
    for (path, item) in document["paths"].entries {
      let shared = item["parameters"].items.map { Self.resolved($0, document) }
      for (method, operation) in item.entries where method != "parameters" {
        let label = "\(name): \(method) \(path)"
        ids.append(try #require(operation["operationId"].text, "\(label)"))
        #expect(operation["summary"].text != nil && operation["tags"].items.count == 1, "\(label)")
        let tags = document["tags"].items.compactMap { $0["name"].text }
        #expect(operation["tags"].items.allSatisfy { tags.contains($0.text ?? "") }, "\(label)")
        let named = Set((shared + operation["parameters"].items.map { Self.resolved($0, document) }).compactMap { $0["name"].text })
        for match in path.matches(of: /\{([^}]+)\}/) { #expect(named.contains(String(match.1)), "\(label) has no parameter \(match.1)") }
        #expect(operation["responses"].entries.contains { $0.0.hasPrefix("2") }, "\(label) has no answer of success")
        let isOpen = operation["security"].exists && operation["security"].items.isEmpty
        let statuses = operation["responses"].entries.map(\.0)
        #expect(isOpen || (statuses.contains("401") && statuses.contains("403")), "\(label) does not say how it refuses a caller")
      }
    }
    #expect(Set(ids).count == ids.count, "operation ids differ")
  }

  /// Lists of values that end somewhere, and are written down a second time.
  @Test func everyValueIsListed() throws {
    let all: [String: [String]] = [
      "TokenType": TokenKind.allCases.map(\.name), "PushType": PushType.allCases.map(\.description),
      "Reason": Reason.allCases.map(\.description), "Platform": Platform.allCases.map(\.rawValue),
      "Environment": PushEnvironment.allCases.map(\.name),
    ]
    let control = [
      "Disposition": Disposition.allCases.map(\.name), "BudgetName": BudgetKind.allCases.map(\.rawValue),
      "Certainty": Certainty.allCases.map(\.name),
    ]
    let device = ["EventName": DeviceEvent.What.allCases.map(\.name), "Family": WidgetFamily.allCases.map(\.rawValue)]
    for (name, lists) in [("control.yaml", all.merging(control) { $1 }), ("device.yaml", all.merging(device) { $1 })] {
      let schemas = try Self.document(name)["components"]?["schemas"]
      for (schema, values) in lists {
        #expect(schemas[schema]?["enum"].items.compactMap(\.text).sorted() == values.sorted(), "\(schema) of \(name)")
      }
    }
  }

  private static func resolved(_ node: YAMLNode, _ document: YAMLNode) -> YAMLNode? {
    guard let reference = node["$ref"]?.text else { return node }
    return reference.split(separator: "/").dropFirst().reduce(document as YAMLNode?) { $0?[String($1)] }
  }
}

extension YAMLNode {
  fileprivate var text: String? { if case .scalar(let text, _) = content { text } else { nil } }
  fileprivate var items: [YAMLNode] { if case .sequence(let items) = content { items } else { [] } }

  fileprivate var entries: [(String, YAMLNode)] {
    guard case .mapping(let entries) = content else { return [] }
    return entries.map { ($0.key, $0.value) }
  }
}

extension YAMLNode? {
  fileprivate var exists: Bool { self != nil }
  fileprivate var text: String? { self?.text }
  fileprivate var items: [YAMLNode] { self?.items ?? [] }
  fileprivate var entries: [(String, YAMLNode)] { self?.entries ?? [] }
  fileprivate subscript(key: String) -> YAMLNode? { self?[key] }
}
