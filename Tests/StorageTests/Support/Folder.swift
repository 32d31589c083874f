import Foundation

/// A folder of its own for one test, which removes it at its end.
final class Folder {
  let path: String

  init() {
    path = NSTemporaryDirectory() + "widgetpush-storage-\(UUID().uuidString)"
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a store's file in the folder.
  var store: String { path + "/store.db" }

  /// A copy of everything in the folder as it is at this moment: what a crash would leave.
  func copy() throws -> Folder {
    let other = Folder()
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where !name.hasSuffix("-shm") && !name.hasSuffix(".lock") {
      try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(other.path)/\(name)")
    }
    return other
  }
}
