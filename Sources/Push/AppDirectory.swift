public import Primitives

/// The apps that a gateway serves, found by bundle id without allocation; immutable, so every thread may share one.
public struct AppDirectory: Sendable {
  /// What is configured for one app.
  public struct App: Hashable, Sendable {
    /// The bundle id; empty for the entry that stands for every other app.
    public var bundleID: String
    /// The ten-character id of the app's team; nil means any team's provider tokens may send to it.
    public var teamID: String?
    /// The rules its pushes are held to.
    public var policy: AppPolicy
    /// The name of the upstream for development tokens; nil when there is none.
    public var developmentUpstream: String?
    /// The name of the upstream for production tokens; nil when there is none.
    public var productionUpstream: String?

    /// An app with these values.
    public init(
      bundleID: String, teamID: String? = nil, policy: AppPolicy = AppPolicy(), developmentUpstream: String? = nil,
      productionUpstream: String? = nil
    ) {
      self.bundleID = bundleID
      self.teamID = teamID
      self.policy = policy
      self.developmentUpstream = developmentUpstream
      self.productionUpstream = productionUpstream
    }

    /// The name of the upstream for tokens of `environment`; nil when there is none.
    public func upstream(_ environment: PushEnvironment) -> String? {
      environment == .development ? developmentUpstream : productionUpstream
    }
  }

  /// Whether `text` can be a bundle id: letters, digits, hyphens, underscores and periods, at most `Limits.bundleIDBytes`.
  public static func isBundleID(_ text: String) -> Bool {
    (1...Limits.bundleIDBytes).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  private let apps: [App]
  private let hasAnyApp: Bool
  /// All bundle ids, one after another, and where each stands.
  private let names: [UInt8]
  private let ranges: [ByteRange]
  /// Open addressing: an app's index plus one, or 0; at most half full, so that a search ends.
  private let slots: [UInt32]

  /// The same apps without those that `isVisible` denies; what holds for apps that are not listed stays.
  public func limited(to isVisible: (String) -> Bool) -> AppDirectory {
    let listed = hasAnyApp ? apps.dropLast() : apps[...]
    return AppDirectory(listed.filter { isVisible($0.bundleID) }, anyApp: hasAnyApp ? apps.last : nil)
  }

  /// A directory of `apps`, whose bundle ids are distinct.
  ///
  /// - Parameter anyApp: What holds for every app that is not listed; nil refuses them.
  public init(_ apps: [App], anyApp: App? = nil) {
    self.apps = apps + (anyApp.map { [$0] } ?? [])
    hasAnyApp = anyApp != nil
    var names: [UInt8] = []
    var ranges: [ByteRange] = []
    var slots = [UInt32](repeating: 0, count: Self.slotCount(apps.count))
    for (index, app) in apps.enumerated() {
      let range = ByteRange(offset: names.count, count: app.bundleID.utf8.count)
      names += Array(app.bundleID.utf8)
      ranges.append(range)
      var slot = unsafe Self.slot(names.span.bytes[range], of: slots.count)
      while slots[slot] != 0 {
        precondition(apps[Int(slots[slot]) - 1].bundleID != app.bundleID, "an app is listed twice: \(app.bundleID)")
        slot = (slot + 1) & (slots.count - 1)
      }
      slots[slot] = UInt32(index + 1)
    }
    bundleIDs = apps.map(\.bundleID)
    self.names = names
    self.ranges = ranges
    self.slots = slots
  }

  /// How many entries there are, the one for every other app included; indices are below it.
  public var count: Int { apps.count }

  /// Whether there is more than one app, or may be.
  public var isShared: Bool { hasAnyApp || apps.count > 1 }

  /// The entry at `index`.
  public subscript(index: Int) -> App { apps[index] }

  /// The rules of the app at `index`, without copying its names.
  public func policy(at index: Int) -> AppPolicy { apps[index].policy }

  /// For how long the answers of the upstream are waited for, of the app at `index`; nil where they are not.
  public func answerTimeout(at index: Int) -> TimeSpan? {
    apps[index].policy.answer == .upstream ? apps[index].policy.answerTimeout : nil
  }

  /// The index of the app listed with exactly that bundle id; nil when it is not listed.
  public func listedIndex(of bundleID: RawSpan) -> Int? {
    var slot = Self.slot(bundleID, of: slots.count)
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      if unsafe names.span.bytes[ranges[index]].equals(bundleID) { return index }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// The index of the entry that holds for that bundle id: its own, else the one for every other app; nil when there is none.
  public func index(of bundleID: RawSpan) -> Int? { listedIndex(of: bundleID) ?? (hasAnyApp ? apps.count - 1 : nil) }

  /// The index of the entry that holds for that bundle id; nil when there is none.
  public func index(of bundleID: String) -> Int? {
    let bytes = Array(bundleID.utf8)
    return unsafe index(of: bytes.span.bytes)
  }

  /// The bundle ids that are listed, in order.
  public let bundleIDs: [String]

  private static func slotCount(_ apps: Int) -> Int {
    var count = 2
    while count < 2 * apps { count *= 2 }
    return count
  }

  /// Where the search for a name begins; the table is the configuration's, so senders cannot crowd it.
  private static func slot(_ name: RawSpan, of count: Int) -> Int { Int(truncatingIfNeeded: name.hash(seed: 0)) & (count - 1) }
}
