import Foundation

@testable import widgetpush

/// A folder of a test's own, removed with the value.
final class TemporaryFolder: Sendable {
  let url: URL
  var path: String { url.path }

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("widgetpush-state-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var state: StateFolder { StateFolder(path + "/state") }

  /// The permissions of a file of the state folder.
  func mode(_ name: String) throws -> Int {
    try (FileManager.default.attributesOfItem(atPath: state.file(name))[.posixPermissions] as? Int) ?? -1
  }
}
