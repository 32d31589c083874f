public import JSON
public import Push

/// What an app declares in its code: the kinds of widgets, controls and Live Activities that it has.
///
/// An empty list declares nothing and so restricts nothing: whatever is placed or started then is taken as it comes.
public struct AppManifest: Hashable, Sendable {
  /// A widget configuration.
  public struct WidgetKind: Hashable, Sendable {
    /// The `kind` string.
    public var kind: String
    /// The families it supports; empty means all.
    public var families: [WidgetFamily]
    /// Whether the configuration has a push handler; without one a widgets push leaves its widgets alone.
    public var pushEnabled: Bool

    /// A widget kind with these values.
    public init(kind: String, families: [WidgetFamily] = [], pushEnabled: Bool = true) {
      self.kind = kind
      self.families = families
      self.pushEnabled = pushEnabled
    }
  }

  /// A control configuration with a push handler.
  public struct ControlKind: Hashable, Sendable {
    /// The `kind` string.
    public var kind: String

    /// A control kind of that name.
    public init(kind: String) { self.kind = kind }
  }

  /// A type of Live Activity.
  public struct ActivityType: Hashable, Sendable {
    /// The name of the Swift type of its attributes, as pushes spell it in `attributes-type`.
    public var attributesType: String
    /// What its `ContentState` and its attributes decode from; nil where nothing is declared.
    public var schemas: ActivitySchemas?

    /// An activity type with these values.
    public init(attributesType: String, schemas: ActivitySchemas? = nil) {
      self.attributesType = attributesType
      self.schemas = schemas
    }
  }

  /// The widget kinds.
  public var widgets: [WidgetKind] = []
  /// The control kinds.
  public var controls: [ControlKind] = []
  /// The types of Live Activities.
  public var activities: [ActivityType] = []
  /// What it asks for tokens of besides those of the app, its widgets, controls and activities: `voip` and the like.
  public var pushes: [TokenKind] = []
  /// Whether `NSSupportsLiveActivitiesFrequentUpdates` is set and switched on.
  public var frequentUpdates = false

  /// The kinds that `pushes` may have: those of which an app has one token each, and asks for it.
  public static let pushKinds: [TokenKind] = [.complication, .fileprovider, .location, .mdm, .pushtotalk, .voip]

  /// A manifest that declares nothing.
  public init() {}

  /// Whether both declare the same, however their schemas are written.
  func means(_ other: AppManifest) -> Bool { meaning == other.meaning }

  /// The manifest without what is only a way of writing it.
  private var meaning: AppManifest {
    var meaning = self
    for index in activities.indices { meaning.activities[index].schemas = activities[index].schemas?.meaning }
    return meaning
  }

  /// The schemas that it declares.
  var schemas: [ActivitySchemas] { activities.compactMap(\.schemas) }
}
