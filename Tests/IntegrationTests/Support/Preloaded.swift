import Foundation

/// A library of `Tests/Support/preload` that stands between a server and the system, and does what a file says.
final class Preloaded: Sendable {
  private let folder: Folder
  private let variable: String

  /// Compiles `name`.c; the variable `variable` names the file that it looks at.
  init(_ name: String, _ variable: String) async throws {
    folder = try Folder()
    self.variable = variable
    let source = repository + "/Tests/Support/preload/\(name).c"
    _ = try await output(["clang", "-shared", "-fPIC", "-O2", "-o", folder.path("preloaded.so"), source])
  }

  /// What makes a process use it.
  var environment: [String: String] { ["LD_PRELOAD": folder.path("preloaded.so"), variable: folder.path("file")] }

  /// Writes the file, or removes it where `text` is nil.
  func set(_ text: String?) throws {
    guard let text else { return try FileManager.default.removeItem(atPath: folder.path("file")) }
    try folder.write("next", text)
    guard rename(folder.path("next"), folder.path("file")) == 0 else { throw HarnessError("no file: errno \(errno)") }
  }
}
