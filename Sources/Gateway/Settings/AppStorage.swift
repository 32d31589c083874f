import JSON
import Push

/// Where what was set for apps at run time is kept over restarts: one text, whole or not at all.
public struct AppStorage: Sendable {
  /// What was kept; nil when nothing ever was.
  public var load: @Sendable () throws -> String?
  /// Keeps another text in its place; returns when it is safe.
  public var save: @Sendable (String) throws -> Void

  /// Storage by these two.
  public init(load: @escaping @Sendable () throws -> String?, save: @escaping @Sendable (String) throws -> Void) {
    self.load = load
    self.save = save
  }
}

/// What is kept for apps.
struct SavedApps: Sendable {
  /// What was set at run time, by bundle id.
  var settings: [String: AppSettings] = [:]
  /// The schemas that apps have brought along, by bundle id.
  var taught: [String: [ActivitySchemas]] = [:]
}

extension AppStorage {
  /// Stands beside the bundle ids, none of which has a space.
  private static let taughtKey = "schemas of apps"

  /// What was kept; throws a sentence when the text is damaged.
  func saved() throws -> SavedApps {
    guard let text = try load() else { return SavedApps() }
    var saved = SavedApps()
    do {
      guard let apps = try JSONValue.parse(wrapped: Array(text.utf8), levels: 3).objectValue else {
        throw FieldError(field: "apps", message: "apps must be an object")
      }
      for (bundleID, value) in apps where bundleID != Self.taughtKey {
        var reader = try JSONReader(value, at: bundleID)
        saved.settings[bundleID] = try AppSettings(&reader)
      }
      for (bundleID, value) in apps[Self.taughtKey]?.objectValue ?? [:] {
        saved.taught[bundleID] = try ActivitySchemas.list(value, at: bundleID, max: Limits.contentStatesPerApp)
      }
    } catch {
      throw GatewayError.savedApps("\(error)")
    }
    return saved
  }

  /// What was set and taught as the text that is kept.
  static func text(_ book: AppBook) -> String {
    var object: JSONObject = [:]
    for bundleID in book.set.keys.sorted() { object[bundleID] = book.set[bundleID].map { .object($0.json) } }
    var taught: JSONObject = [:]
    for bundleID in book.taught.keys.sorted() { taught[bundleID] = book.taught[bundleID].map(\.json) }
    if !taught.isEmpty { object[taughtKey] = .object(taught) }
    return JSONValue.object(object).serialized() + "\n"
  }
}
