import Foundation

/// A temporary folder that goes with the value that holds it.
final class Folder: Sendable {
  let path: String

  init() throws {
    var template = Array((NSTemporaryDirectory() + "/widgetpush-test-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw HarnessError("no temporary folder: errno \(errno)") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    Reaper.shared.watch(folder: path)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
    // A process that is just being killed may have written meanwhile; then the reaper has the last word.
    if !FileManager.default.fileExists(atPath: path) { Reaper.shared.forget(folder: path) }
  }

  /// The path of a file in it.
  func path(_ name: String) -> String { path + "/" + name }

  /// Writes a file and returns its path.
  @discardableResult
  func write(_ name: String, _ text: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }

  /// The bytes of a file in it.
  func read(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }
}
