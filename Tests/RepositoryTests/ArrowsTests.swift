import Foundation
import Testing

/// The layers of ARCHITECTURE.md: a target imports only targets of lower layers.
private let layers: [[String]] = [
  ["CLinux", "CNghttp2", "COpenSSL", "CSQLite", "CHTTPParser", "CYAML", "CCurl", "COpenAPI"],
  ["Primitives"],
  ["Push", "JSON", "Telemetry", "Reactor", "SafeFiles", "Security", "HTTP2", "HTTPClient", "YAML"],
  ["Transport", "Rules", "Delivery", "Faults", "Configuration", "SwiftSource"],
  ["Storage", "Forwarding", "DeviceModel", "Control", "ProviderAPI"],
  ["Gateway", "MockDevice"],
  ["widgetpush"],
]

/// The one Swift importer of each C library.
private let importers: [String: Set<String>] = [
  "CLinux": ["Reactor", "HTTP2"], "CNghttp2": ["HTTP2"], "COpenSSL": ["Security"], "CSQLite": ["Storage"],
  "CHTTPParser": ["Control"], "COpenAPI": ["Control"],
  "CYAML": ["YAML"], "CCurl": ["HTTPClient"],
]

/// Targets whose decisions must stay free of sockets and threads.
private let pure: Set<String> = ["Rules", "Delivery", "Faults", "DeviceModel", "HTTP2"]

@Suite("Arrows") struct ArrowsTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test(arguments: layers.flatMap { $0 }) func importsPointDownward(target: String) throws {
    let own = try #require(layers.firstIndex { $0.contains(target) })
    let below = Set(layers[..<own].flatMap { $0 })
    let ours = Set(layers.flatMap { $0 })
    for (file, module) in try imports(of: target) where ours.contains(module) {
      #expect(below.contains(module), "\(file) imports \(module), which is not below \(target)")
      #expect(!(pure.contains(target) && module == "Reactor"), "\(file): \(target) is pure and must not import Reactor")
      if let allowed = importers[module] {
        #expect(
          allowed.contains(target), "\(file) imports \(module); its importer is \(allowed.sorted().joined(separator: ", "))")
      }
    }
  }

  @Test func everyTargetHasALayer() throws {
    let sources = try FileManager.default.contentsOfDirectory(atPath: Self.root.appendingPathComponent("Sources").path)
    #expect(Set(sources) == Set(layers.flatMap { $0 }))
  }

  private func imports(of target: String) throws -> [(file: String, module: String)] {
    let folder = Self.root.appendingPathComponent("Sources/\(target)")
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    return try files.flatMap { file in
      try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8).split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ").map(String.init)
        guard let keyword = words.firstIndex(of: "import"), keyword < 3, words.count > keyword + 1 else { return nil }
        guard
          words[..<keyword].allSatisfy({ ["public", "package", "internal", "private", "@testable", "@_exported"].contains($0) })
        else { return nil }
        return (file, words[keyword + 1])
      }
    }
  }
}
