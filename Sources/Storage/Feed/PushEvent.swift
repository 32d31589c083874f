import Primitives
import Push

/// A push as it became by something that happened to it, as those who follow the log are told.
public struct PushEvent: Hashable, Sendable {
  /// Where it stands among all events.
  public var place: EventPlace
  /// The push with its whole life so far.
  public var push: PushRecord
}

extension PushEvent {
  /// Bytes that an event counts beside its texts: the record itself and its steps.
  static let bytesBesideTexts = 640

  /// What it counts of the room of one who follows.
  var bytes: Int {
    let texts = [push.bundleID, push.detail, push.collapseID].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    let warnings = push.warningDetails.reduce(0) { $0 + $1.field.utf8.count + $1.detail.utf8.count + 64 }
    return Self.bytesBesideTexts + texts + warnings + (push.payload?.count ?? 0)
  }
}

/// The place of an event among all that the log can tell of: those of one instant stand in the order of its rings.
///
/// It has the number of steps as well, so that a push which changes twice at one instant, as it may while a clock stands still, makes two;
/// and what the push became, since a crash forgets attempts that had not come to anything.
public struct EventPlace: Hashable, Sendable {
  /// When it happened.
  var at: Instant
  /// Whether the push was refused before the store saw it, which has numbers of its own.
  var isRefused: Bool
  /// The push's number.
  var sequence: UInt64
  /// How many steps it had by then.
  var steps: Int
  /// What it was by then.
  var disposition: Disposition

  /// The text form, as it stands in `id` and `Last-Event-ID`.
  ///
  /// - Parameter seal: Writes a number so that it does not tell how many pushes there have been, of whatever apps.
  public func text(sealing seal: (UInt64) -> String = { "\($0)" }) -> String {
    "\(at.nanoseconds).\(isRefused ? "r" : "a")\(seal(sequence)).\(steps).\(disposition.name)"
  }

  init(at: Instant, isRefused: Bool, sequence: UInt64, steps: Int, disposition: Disposition) {
    self.at = at
    self.isRefused = isRefused
    self.sequence = sequence
    self.steps = steps
    self.disposition = disposition
  }

  /// The place that `text` spells, or nil; `open` undoes what `seal` did.
  public init?(text: String, opening open: (Substring) -> UInt64? = { UInt64($0) }) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4, let at = Int64(parts[0]), let ring = parts[1].first, ring == "a" || ring == "r",
      let sequence = open(parts[1].dropFirst()), let steps = Int(parts[2]),
      let disposition = Disposition(name: String(parts[3]))
    else { return nil }
    self.init(at: Instant(nanoseconds: at), isRefused: ring == "r", sequence: sequence, steps: steps, disposition: disposition)
  }
}

extension EventPlace: Comparable {
  /// Whether `a` happened before `b`.
  public static func < (a: EventPlace, b: EventPlace) -> Bool {
    if a.at != b.at { return a.at < b.at }
    if a.isRefused != b.isRefused { return b.isRefused }
    return (a.sequence, a.steps, a.disposition.rawValue) < (b.sequence, b.steps, b.disposition.rawValue)
  }
}
