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

extension AppStorage {
  /// The settings that were kept, by bundle id; throws a sentence when the text is damaged.
  func settings() throws -> [String: AppSettings] {
    guard let text = try load() else { return [:] }
    var settings: [String: AppSettings] = [:]
    do {
      guard let apps = try JSONValue.parse(wrapped: Array(text.utf8)).objectValue else {
        throw FieldError(field: "apps", message: "apps must be an object")
      }
      for bundleID in apps.keys {
        guard let value = apps[bundleID] else { continue }
        var reader = try JSONReader(value, at: bundleID)
        settings[bundleID] = try AppSettings(&reader)
      }
    } catch {
      throw GatewayError.savedApps("\(error)")
    }
    return settings
  }

  /// These settings as the text that is kept.
  static func text(_ settings: [String: AppSettings]) -> String {
    var object: JSONObject = [:]
    for bundleID in settings.keys.sorted() { object[bundleID] = settings[bundleID].map { .object($0.json) } }
    return JSONValue.object(object).serialized() + "\n"
  }
}
