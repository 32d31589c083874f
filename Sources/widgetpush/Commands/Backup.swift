import Configuration
import Glibc
import Storage

extension Command {
  /// `widgetpush backup`.
  static let backup = Command(
    "backup", "copies the store of a gateway, which may go on meanwhile", operands: "FILE", count: 1...1,
    discussion: """
      Writes the store as it is at one moment: registrations, budgets, waiting pushes, channels and the push log. To go back to it, stop
      the gateway, put the copy in the place of gateway.sqlite, and remove gateway.sqlite-wal and gateway.sqlite-shm beside it. Keys and
      access tokens are files of their own in the state folder.
      """,
    options: [
      Option("--store", "FOLDER", "folder of the store (store in the state folder)"),
      Option("--state-dir", "FOLDER", "folder of the gateway (WIDGETPUSH_STATE_DIR, else .widgetpush)"),
    ], examples: ["widgetpush backup before-upgrade.sqlite"]
  ) { arguments in
    let folder = arguments.value("--store") ?? StateFolder(arguments).file("store")
    let source = folder + "/gateway.sqlite"
    let target = arguments.operands[0]
    guard Files.exists(source) else { throw CommandError("\(source) is not there; a gateway whose store.path is memory keeps none") }
    guard !Files.exists(target) else { throw CommandError("\(target) is there already; give another name, or remove it") }
    let temporary = "\(target).\(getpid())"
    // Push tokens stand in it, so it is for its owner alone from the start.
    try Files.write("", to: temporary, mode: 0o600)
    do {
      try StoreBackup.copy(source, to: temporary)
      try Files.sync(temporary)
      try Files.rename(temporary, to: target)
    } catch {
      try? Files.remove(temporary)
      throw error
    }
    Console.print("\(target) is a copy of \(source)")
    return 0
  }
}
