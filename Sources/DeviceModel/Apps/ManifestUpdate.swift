public import JSON
import Push

/// What somebody says of an app's manifest: all of it, or what is to change.
public struct ManifestUpdate: Sendable {
  private let manifest: AppManifest
  /// The parts that were given, by their keys; in a patch those that are null, too.
  private let given: Set<String>
  private let isPatch: Bool
  /// Whether it is a patch in which the switch for frequent updates is null.
  private let takesSwitchBack: Bool

  /// Leaves the manifest of an app that is there as it is.
  public static let nothing = ManifestUpdate(AppManifest(), given: [], isPatch: true, takesSwitchBack: false)

  private init(_ manifest: AppManifest, given: Set<String>, isPatch: Bool, takesSwitchBack: Bool) {
    self.manifest = manifest
    self.given = given
    self.isPatch = isPatch
    self.takesSwitchBack = takesSwitchBack
  }

  /// Reads a manifest; throws what is wrong with it.
  ///
  /// - Parameter isPatch: Has it be a JSON Merge Patch (RFC 7396): a list that is left out stays, and one that is given is the whole list.
  public init(_ value: JSONValue, at path: String = "", isPatch: Bool = false) throws(FieldError) {
    var reader = try JSONReader(value, at: path)
    let manifest = try AppManifest(&reader)
    try reader.finish()
    let members = value.objectValue ?? [:]
    self.init(
      manifest, given: Set(members.keys.filter { isPatch || members[$0]?.isNull == false }), isPatch: isPatch,
      takesSwitchBack: isPatch && members["frequentUpdates"]?.isNull == true)
  }

  /// Whether it leaves everything as it is.
  var isNothing: Bool { isPatch && given.isEmpty }

  /// The manifest after it.
  ///
  /// The switch for frequent updates is a person's, in Settings: who does not mention it has not touched it, whichever form the update has.
  func applied(to old: AppManifest) -> AppManifest {
    var next = manifest
    if !given.contains("frequentUpdates") { next.frequentUpdates = old.frequentUpdates }
    guard isPatch else { return next }
    if !given.contains("widgets") { next.widgets = old.widgets }
    if !given.contains("controls") { next.controls = old.controls }
    if !given.contains("activities") { next.activities = old.activities }
    if !given.contains("pushes") { next.pushes = old.pushes }
    return next
  }

  /// What `old` declared that is not declared after it, such as `widgets.Steps` or `activities.Ride.contentState`.
  func dropped(from old: AppManifest) -> [String] {
    let (before, after) = (old.declarations, applied(to: old).declarations)
    var dropped: [String] = []
    for (name, parts) in before {
      guard let left = after[name] else {
        dropped.append(name)
        continue
      }
      var parts = parts.subtracting(left)
      // A list that is not there any more says it for each of its entries.
      if parts.contains("families") { parts = parts.filter { !$0.hasPrefix("families.") } }
      dropped += parts.map { "\(name).\($0)" }
    }
    // Whoever says false means it.
    if old.frequentUpdates, takesSwitchBack { dropped.append("frequentUpdates") }
    return dropped.sorted()
  }
}

extension AppManifest {
  /// What is declared, by name, and what of each is said beyond its name.
  fileprivate var declarations: [String: Set<String>] {
    var all: [String: Set<String>] = [:]
    for widget in widgets {
      let families = widget.families.isEmpty ? [] : ["families"] + widget.families.map { "families.\($0.rawValue)" }
      all["widgets.\(widget.kind)"] = Set(families + (widget.pushEnabled ? [] : ["push"]))
    }
    for control in controls { all["controls.\(control.kind)"] = [] }
    for activity in activities {
      let schemas = activity.schemas
      all["activities.\(activity.attributesType)"] = Set(
        (schemas?.contentState == nil ? [] : ["contentState"]) + (schemas?.attributes == nil ? [] : ["attributes"]))
    }
    for kind in pushes { all["pushes.\(kind.name)"] = [] }
    return all
  }
}
