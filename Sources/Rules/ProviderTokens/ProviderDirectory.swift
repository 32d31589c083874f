import Primitives
public import Push

/// The keys that backends sign provider tokens with, and what each may do; immutable, so every thread may share one.
public struct ProviderDirectory: Sendable {
  /// One key. Its index in the directory is also its index in the list of public keys that the verifier was made with.
  public struct Provider: Hashable, Sendable {
    /// The key's id, ten characters at Apple: the `kid` of its tokens.
    public var keyID: String
    /// The team's id, ten characters at Apple: the `iss` of its tokens.
    public var teamID: String
    /// The apps it may send to; nil means all.
    public var bundleIDs: [String]?
    /// The environment it is limited to; nil means both.
    public var environment: PushEnvironment?

    /// A key with these values.
    public init(keyID: String, teamID: String, bundleIDs: [String]? = nil, environment: PushEnvironment? = nil) {
      self.keyID = keyID
      self.teamID = teamID
      self.bundleIDs = bundleIDs
      self.environment = environment
    }
  }

  private let providers: [Provider]
  private let identities: [UInt64]

  /// A directory of `providers`, whose key ids are distinct.
  public init(_ providers: [Provider]) {
    precondition(Set(providers.map(\.keyID)).count == providers.count, "a key id is listed twice")
    self.providers = providers
    unlimited = providers.filter { $0.bundleIDs == nil }
    identities = providers.map { provider in
      let name = Array("\(provider.teamID) \(provider.keyID)".utf8)
      return unsafe name.span.bytes.hash(seed: 0)
    }
  }

  /// The keys that are not limited to apps: what strangers may be told of.
  let unlimited: [Provider]

  /// Whether some keys are limited to apps, so that who sends for one app may be a stranger to another.
  public var isDivided: Bool { providers.contains { $0.bundleIDs != nil } }

  /// How many keys there are.
  public var count: Int { providers.count }

  /// The key at `index`.
  public subscript(index: Int) -> Provider { providers[index] }

  /// What tells the key at `index` from others, in this directory and in any other: a hash of its team and its id.
  func identity(of index: Int) -> UInt64 { identities[index] }

  /// The index of the key of that id, or nil.
  func index(ofKey keyID: String) -> Int? { providers.firstIndex { $0.keyID == keyID } }

  /// Whether the key at `index` is limited to the environment other than `environment`.
  func isForeign(_ index: Int, to environment: PushEnvironment) -> Bool {
    guard let own = providers[index].environment else { return false }
    return own != environment
  }

  /// Whether the key at `index` may send to the app of that bundle id, by the key's own list; allocates nothing.
  func mayServe(_ index: Int, _ bundleID: RawSpan) -> Bool {
    guard let bundleIDs = providers[index].bundleIDs else { return true }
    return bundleIDs.contains { Self.isEqual($0, bundleID) }
  }

  private static func isEqual(_ text: String, _ bytes: RawSpan) -> Bool {
    guard text.utf8.count == bytes.byteCount else { return false }
    var index = 0
    for byte in text.utf8 {
      if byte != bytes.byte(index) { return false }
      index += 1
    }
    return true
  }
}
