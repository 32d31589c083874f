public import Push

/// Which registrations a reload is for: widgets and controls of one app.
///
/// Names of one list are alternatives; the lists of users and of devices narrow down. With neither `kinds` nor `controls` it is for both
/// types of token, whatever they show.
public struct ReloadSelector: Hashable, Sendable {
  /// The app.
  public let bundleID: String
  /// Kinds of widgets, of which a `widgets` registration must list one.
  public let kinds: [String]
  /// Kinds of controls, of which a `controls` registration must be.
  public let controls: [String]
  /// Names of users.
  public let users: [String]
  /// Names of devices.
  public let devices: [String]

  /// A selector of these names, each counted once.
  public init(bundleID: String, kinds: [String] = [], controls: [String] = [], users: [String] = [], devices: [String] = []) {
    self.bundleID = bundleID
    self.kinds = Self.distinct(kinds)
    self.controls = Self.distinct(controls)
    self.users = Self.distinct(users)
    self.devices = Self.distinct(devices)
  }

  /// Whether it is for every widget and control of the app.
  public var isForAll: Bool { kinds.isEmpty && controls.isEmpty && users.isEmpty && devices.isEmpty }

  /// Bytes of all its names.
  var nameBytes: Int { (kinds + controls + users + devices).reduce(bundleID.utf8.count) { $0 + 16 + $1.utf8.count } }

  /// Whether the kinds of widgets or controls decide, which only a whole registration tells.
  var namesKinds: Bool { !kinds.isEmpty || !controls.isEmpty }

  /// Whether it is for that registration.
  public func matches(_ registration: Registration) -> Bool {
    registration.bundleID == bundleID && isFor(registration.kind) && Self.allows(users, registration.user)
      && Self.allows(devices, registration.device) && matchesKinds(of: registration)
  }

  /// Whether it is for tokens of that type at all.
  func isFor(_ kind: TokenKind) -> Bool {
    switch kind {
    case .widgets: controls.isEmpty || !kinds.isEmpty
    case .controls: kinds.isEmpty || !controls.isEmpty
    default: false
    }
  }

  /// Whether what the registration shows is meant.
  func matchesKinds(of registration: Registration) -> Bool {
    switch registration.kind {
    case .widgets: kinds.isEmpty || registration.widgets.contains { kinds.contains($0.kind) }
    case .controls: controls.isEmpty || registration.controlKind.map { controls.contains($0) } ?? false
    default: false
    }
  }

  /// Whether a list, empty for any, has that name.
  static func allows(_ names: [String], _ name: String?) -> Bool { names.isEmpty || name.map { names.contains($0) } ?? false }

  private static func distinct(_ names: [String]) -> [String] { Array(Set(names)).sorted() }
}

/// How far a walk over the registrations that a selector may mean has come.
///
/// It goes along the users that are named, else along the devices, else along all tokens; in each list by token in byte order.
public struct ReloadPosition: Hashable, Sendable {
  /// The place of the user or device; 0 where none is named.
  public var list: Int
  /// The last token that was looked at; nil at the beginning of a list.
  public var after: DeviceToken?

  /// The beginning.
  public static let start = ReloadPosition(list: 0, after: nil)

  /// A position.
  public init(list: Int, after: DeviceToken?) {
    self.list = list
    self.after = after
  }
}

/// One step of such a walk.
public struct ReloadPage: Sendable {
  /// The tokens that match.
  public var tokens: [DeviceToken]
  /// Where the next page begins; nil when this is the last.
  public var next: ReloadPosition?

  /// A page.
  public init(tokens: [DeviceToken], next: ReloadPosition?) {
    self.tokens = tokens
    self.next = next
  }
}
