import JSON

/// `store.json` of a state folder: that a store was made, and where.
///
/// Without it, a store whose folder is gone would look like one that never was, and a gateway would begin anew in silence. It goes with
/// the state folder, so that whoever removes that begins afresh in all.
struct StoreMark {
  private static let name = "store.json"
  private let folder: StateFolder
  private let store: String

  /// The mark of the store in the folder `store`, in the state folder `folder`.
  init(of store: String, in folder: StateFolder) {
    self.folder = folder
    self.store = store
  }

  /// Throws when the store was made and is not there.
  func check() throws(CommandError) {
    let marked = try folder.read(Self.name, mending: "remove it") { $0["folder"]?.stringValue }
    let database = "\(store)/gateway.sqlite"
    guard marked == place, !Files.exists(database) else { return }
    let mark = folder.file(Self.name)
    throw CommandError(
      "\(database) is missing, and \(mark) says that a store was made there; restore it from a copy, or begin anew with rm -rf \(store) \(mark)"
    )
  }

  /// Marks that the store is there.
  func make() throws {
    let json: JSONValue = ["folder": .string(place)]
    let text = json.serialized() + "\n"
    if let present = try? Files.read(folder.file(Self.name)), present == text { return }
    try Files.write(text, to: folder.file(Self.name), mode: 0o600)
  }

  /// Where the store is, for a state folder that may be mounted or copied somewhere else.
  private var place: String { store == folder.store ? "store" : Files.absolute(store) }
}
