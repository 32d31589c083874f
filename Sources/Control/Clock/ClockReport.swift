public import JSON
public import Primitives
public import Push

/// What the clock shows, what comes next, and what came of moving it.
public struct ClockReport: Hashable, Sendable {
  /// Both clocks.
  public var moment: Moment
  /// What may be done to the product's.
  public var settings: ClockSettings
  /// What is left and what comes.
  public var standing: ClockStanding
  /// How far it was moved, and through how many events; nil where it was not to be.
  public var advanced: TimeSpan?
  /// See `advanced`.
  public var steps: Int?

  /// A report with these values.
  init(_ moment: Moment, _ settings: ClockSettings, _ standing: ClockStanding, moved: (span: TimeSpan, steps: Int)? = nil) {
    self.moment = moment
    self.settings = settings
    self.standing = standing
    advanced = moved?.span
    steps = moved?.steps
  }

  /// The report as the API shows it to the owner of `grant`, who learns nothing of other apps.
  public func json(for grant: Grant) -> JSONValue {
    var object: JSONObject = [
      "now": .string(moment.now.preciseDescription), "real": .string(moment.real.preciseDescription),
      "offsetSeconds": .number(moment.lead.seconds),
      "frozen": .bool(moment.isFrozen), "permitted": .bool(settings.permitted),
      "providerTimes": .string(settings.providerTimes.rawValue),
    ]
    if let next = standing.next, grant.sees(next.bundleID) { object["next"] = next.json }
    if let advanced, let steps {
      object["advancedSeconds"] = .number(advanced.seconds)
      object["steps"] = .integer(Int64(steps))
    }
    object["complete"] = .bool(standing.isSettled)
    object["outstanding"] = .array(standing.outstanding.filter { $0.bundleID.map { grant.sees($0) } ?? true }.map(\.json))
    object["outstandingCount"] = .integer(Int64(standing.outstandingCount))
    object["changes"] = .integer(Int64(truncatingIfNeeded: standing.changes))
    return .object(object)
  }
}
