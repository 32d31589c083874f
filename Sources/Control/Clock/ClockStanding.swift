import Configuration
public import JSON
public import Primitives

/// Something that happens by itself when the product's clock comes to it.
public struct ClockEvent: Hashable, Sendable {
  /// When.
  public var at: Instant
  /// What, as a word for programs such as `pushDue` or `activityEnded`.
  public var what: String
  /// The app that it concerns.
  public var bundleID: String
  /// What it concerns: ids, by the names of their fields.
  public var subject: [String: String]

  /// An event with these values.
  public init(at: Instant, what: String, bundleID: String, subject: [String: String]) {
    self.at = at
    self.what = what
    self.bundleID = bundleID
    self.subject = subject
  }

  /// The event that `json` shows; nil when it shows none.
  public init?(_ json: JSONValue) {
    guard let at = json["at"]?.stringValue.flatMap({ Instant(rfc3339: $0) }), let what = json["what"]?.stringValue else { return nil }
    var subject: [String: String] = [:]
    for name in json.objectValue?.keys ?? [] where !["at", "what", "bundleID"].contains(name) { subject[name] = json[name]?.stringValue }
    self.init(at: at, what: what, bundleID: json["bundleID"]?.stringValue ?? "", subject: subject)
  }

  /// The event as the API shows it.
  var json: JSONValue {
    var object: JSONObject = ["at": .string(at.preciseDescription), "what": .string(what), "bundleID": .string(bundleID)]
    for name in subject.keys.sorted() { object[name] = subject[name].map { .string($0) } }
    return .object(object)
  }
}

/// Something that became due and is not done.
public struct ClockWork: Hashable, Sendable {
  /// What, as a sentence.
  public var message: String
  /// The app that it concerns; nil where it concerns all.
  public var bundleID: String?
  /// What it concerns: ids, by the names of their fields.
  public var subject: [String: String]

  /// Work with these values.
  public init(_ message: String, bundleID: String? = nil, subject: [String: String] = [:]) {
    self.message = message
    self.bundleID = bundleID
    self.subject = subject
  }

  /// The work as the API shows it.
  var json: JSONValue {
    var object: JSONObject = ["message": .string(message)]
    object["bundleID"] = bundleID.map { .string($0) }
    for name in subject.keys.sorted() { object[name] = subject[name].map { .string($0) } }
    return .object(object)
  }
}

extension Instant {
  /// RFC 3339 with all nine digits of a second where there are more than milliseconds, so that who sets a clock to it sets it exactly.
  public var preciseDescription: String {
    let rest = (nanoseconds % 1_000_000 + 1_000_000) % 1_000_000
    guard rest != 0 else { return description }
    let digits = String(rest)
    return description.dropLast() + String(repeating: "0", count: 6 - digits.count) + digits + "Z"
  }
}

/// What one part of the product, or all of it, has still to do at the clock's present time, and what comes next.
public struct ClockStanding: Hashable, Sendable {
  /// The next event; nil when nothing happens by itself.
  public var next: ClockEvent?
  /// What became due and is not done, some of it where there is much.
  public var outstanding: [ClockWork]
  /// How much there is.
  public var outstandingCount: Int
  /// Grows with everything that is done.
  public var changes: UInt64

  /// A standing with these values.
  public init(next: ClockEvent? = nil, outstanding: [ClockWork] = [], outstandingCount: Int? = nil, changes: UInt64 = 0) {
    self.next = next
    self.outstanding = outstanding
    self.outstandingCount = outstandingCount ?? outstanding.count
    self.changes = changes
  }

  /// Whether everything that became due is done.
  public var isSettled: Bool { outstandingCount == 0 }

  /// Adds that of another part.
  mutating func add(_ other: ClockStanding) {
    if let event = other.next, event.at < next?.at ?? .distantFuture { next = event }
    outstanding += other.outstanding
    outstandingCount += other.outstandingCount
    changes &+= other.changes
  }
}

/// A part of the product that has things to do when the clock comes to them.
public protocol ClockPart: Sendable {
  /// The clock has been moved, stopped, or made to run, at `real` of the machine's. Returns once the part goes by it.
  func clockChanged(to time: VirtualTime, at real: Instant) async

  /// What is left to do and what comes next: at once where `until` is nil; else once nothing is left, or at `until` of the machine's
  /// clock, which `real` reads.
  func standing(of time: VirtualTime, until: Instant?, real: @Sendable () -> Instant) async -> ClockStanding
}
