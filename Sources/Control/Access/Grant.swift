/// What the caller of a route may do and see.
public struct Grant: Hashable, Sendable {
  /// The access token's name; empty where a route asks for none.
  public let name: String
  /// The scopes it has.
  public let scopes: Set<AccessScope>
  /// The apps it sees; nil means all.
  public let bundleIDs: Set<String>?

  /// A grant with these values.
  public init(name: String, scopes: Set<AccessScope>, bundleIDs: Set<String>? = nil) {
    self.name = name
    self.scopes = scopes
    self.bundleIDs = bundleIDs
  }

  /// What routes grant that ask for no access token: no scope, and nothing to see.
  public static let none = Grant(name: "", scopes: [], bundleIDs: [])

  /// Whether it has `scope`, by itself or through `admin`.
  public func permits(_ scope: AccessScope) -> Bool { scopes.contains(scope) || scopes.contains(.admin) }

  /// Whether it sees the app of that bundle id.
  public func sees(_ bundleID: String) -> Bool { bundleIDs?.contains(bundleID) ?? true }
}
