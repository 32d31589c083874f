public import JSON
public import Push

/// The devices that a mock process starts with: the content of `Config/device.yaml`.
///
/// Applying the same plan with the same seed gives the same tokens, so that a restart strands none of them.
public struct DevicePlan: Hashable, Sendable {
  /// A device.
  public struct Device: Hashable, Sendable {
    /// Its name, unique in the process.
    public var name: String
    /// What a person has set on it.
    public var settings: DeviceSettings
    /// Its apps.
    public var apps: [App]

    /// A device with these values.
    public init(name: String, settings: DeviceSettings = DeviceSettings(), apps: [App] = []) {
      self.name = name
      self.settings = settings
      self.apps = apps
    }
  }

  /// An app to install, and what to place of it.
  public struct App: Hashable, Sendable {
    /// Its bundle id.
    public var bundleID: String
    /// What it declares.
    public var manifest: AppManifest
    /// Widgets to place, in order.
    public var widgets: [Widget]
    /// Controls to place, in order.
    public var controls: [Control]
    /// Activities to start, in order.
    public var activities: [Activity]

    /// An app with these values.
    public init(
      bundleID: String, manifest: AppManifest = AppManifest(), widgets: [Widget] = [], controls: [Control] = [],
      activities: [Activity] = []
    ) {
      self.bundleID = bundleID
      self.manifest = manifest
      self.widgets = widgets
      self.controls = controls
      self.activities = activities
    }
  }

  /// A widget to place.
  public struct Widget: Hashable, Sendable {
    /// The `kind` string.
    public var kind: String
    /// The family.
    public var family: WidgetFamily
    /// The instance's name; nil makes one from the kind.
    public var id: String?

    /// A widget with these values.
    public init(kind: String, family: WidgetFamily = .systemSmall, id: String? = nil) {
      self.kind = kind
      self.family = family
      self.id = id
    }
  }

  /// A control to place.
  public struct Control: Hashable, Sendable {
    /// The `kind` string.
    public var kind: String
    /// The instance's name; nil makes one from the kind.
    public var id: String?

    /// A control with these values.
    public init(kind: String, id: String? = nil) {
      self.kind = kind
      self.id = id
    }
  }

  /// A Live Activity to start, as the app itself would.
  public struct Activity: Hashable, Sendable {
    /// The name of the Swift type of its attributes.
    public var attributesType: String
    /// The static attributes.
    public var attributes: JSONObject
    /// The first content-state.
    public var contentState: JSONObject
    /// The activity's name; nil makes one from the type.
    public var id: String?
    /// The broadcast channel whose pushes update it; nil for a push token of its own.
    public var channel: ChannelID?

    /// An activity with these values.
    public init(
      attributesType: String, attributes: JSONObject = [:], contentState: JSONObject = [:], id: String? = nil, channel: ChannelID? = nil
    ) {
      self.attributesType = attributesType
      self.attributes = attributes
      self.contentState = contentState
      self.id = id
      self.channel = channel
    }
  }

  /// What tokens are made from, besides names.
  public var seed: String
  /// The devices.
  public var devices: [Device]

  /// A plan with these values.
  public init(seed: String = "widgetpush", devices: [Device] = []) {
    self.seed = seed
    self.devices = devices
  }
}
