import Primitives
import Push

/// An activity by name in bytes: what never changes of it, and the rest, which is written with each change.
enum ActivityCoding {
  static func fixed(_ activity: NamedActivity, to arena: ByteArena) {
    write(activity.id, to: arena)
    arena.append(activity.bundleID)
    arena.append(activity.name)
    arena.append(activity.created.nanoseconds)
  }

  static func progress(_ activity: NamedActivity, to arena: ByteArena) {
    switch activity.target {
    case .user(let name): write(name, tag: 0, to: arena)
    case .device(let name): write(name, tag: 1, to: arena)
    }
    arena.append(activity.attributesType)
    arena.append(activity.attributes)
    arena.append(activity.content.state)
    for text in [activity.content.alert, activity.content.staleDate, activity.dismissalDate] { write(text, to: arena) }
    arena.append(activity.startAlert)
    arena.append(activity.version)
    arena.append(activity.phase.rawValue)
    arena.append(activity.updated.nanoseconds)
    for instant in [activity.started, activity.ended] { arena.append(instant?.nanoseconds ?? Int64.min) }
    arena.append(activity.timestamp)
    arena.append(UInt8(activity.legs.count))
    for leg in activity.legs { write(leg, to: arena) }
    arena.append(UInt8(activity.pushes.count))
    for push in activity.pushes {
      write(push.id, to: arena)
      arena.append(push.event.rawValue)
    }
  }

  static func decode(_ fixed: inout ByteReader, _ progress: inout ByteReader) throws(ByteReader.Malformed) -> NamedActivity {
    let id = try readID(&fixed)
    let (bundleID, name) = (try fixed.readText(), try fixed.readText())
    let created = Instant(nanoseconds: try fixed.read())
    let isDevice = try progress.read(UInt8.self) == 1
    let owner = try progress.readText()
    let (attributesType, attributes, state) = (try progress.readText(), try progress.readText(), try progress.readText())
    let (alert, staleDate) = (try readOptional(&progress), try readOptional(&progress))
    var activity = NamedActivity(
      id: id, bundleID: bundleID, name: name, target: isDevice ? .device(owner) : .user(owner), attributesType: attributesType,
      attributes: attributes, content: .init(state: state, alert: alert, staleDate: staleDate), at: created)
    activity.dismissalDate = try readOptional(&progress)
    activity.startAlert = try progress.readText()
    activity.version = try progress.read()
    activity.phase = try readCase(&progress, NamedActivity.Phase.init(rawValue:))
    activity.updated = Instant(nanoseconds: try progress.read())
    let (started, ended): (Int64, Int64) = (try progress.read(), try progress.read())
    activity.started = started == .min ? nil : Instant(nanoseconds: started)
    activity.ended = ended == .min ? nil : Instant(nanoseconds: ended)
    activity.timestamp = try progress.read()
    for _ in 0..<(try progress.read(UInt8.self)) { activity.legs.append(try readLeg(&progress)) }
    for _ in 0..<(try progress.read(UInt8.self)) {
      activity.pushes.append(.init(id: try readID(&progress), event: try readCase(&progress, ActivityEvent.init(rawValue:))))
    }
    return activity
  }

  private static func write(_ leg: NamedActivity.Leg, to arena: ByteArena) {
    arena.append(leg.state.rawValue)
    write(leg.device, to: arena)
    for token in [leg.startToken, leg.updateToken] {
      let bytes = token?.bytes ?? []
      arena.append(UInt8(bytes.count))
      bytes.withUnsafeBytes { _ = arena.append($0) }
    }
    write(leg.activityID, to: arena)
    // By name, since raw values move when cases are added.
    arena.append(leg.cause.name)
    arena.append(leg.shown)
    arena.append(UInt8(leg.isEndSent ? 1 : 0))
    for push in [leg.push, leg.update] {
      arena.append(UInt8(push == nil ? 0 : 1))
      if let push { write(push, to: arena) }
    }
  }

  private static func readLeg(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> NamedActivity.Leg {
    var leg = NamedActivity.Leg()
    leg.state = try readCase(&reader, NamedActivity.Leg.State.init(rawValue:))
    leg.device = try readOptional(&reader)
    leg.startToken = try readToken(&reader)
    leg.updateToken = try readToken(&reader)
    leg.activityID = try readOptional(&reader)
    leg.cause = Cause(name: try reader.readText()) ?? .none
    leg.shown = try reader.read()
    leg.isEndSent = try reader.read(UInt8.self) == 1
    if try reader.read(UInt8.self) == 1 { leg.push = try readID(&reader) }
    if try reader.read(UInt8.self) == 1 { leg.update = try readID(&reader) }
    return leg
  }

  private static func readToken(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> DeviceToken? {
    DeviceToken(bytes: RawSpan(_unsafeBytes: try reader.read(count: Int(try reader.read(UInt8.self)))))
  }

  private static func readCase<T>(_ reader: inout ByteReader, _ make: (UInt8) -> T?) throws(ByteReader.Malformed) -> T {
    guard let value = make(try reader.read()) else { throw ByteReader.Malformed() }
    return value
  }

  private static func write(_ name: String, tag: UInt8, to arena: ByteArena) {
    arena.append(tag)
    arena.append(name)
  }

  private static func write(_ text: String?, to arena: ByteArena) {
    arena.append(UInt8(text == nil ? 0 : 1))
    if let text { arena.append(text) }
  }

  private static func readOptional(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> String? {
    try reader.read(UInt8.self) == 1 ? try reader.readText() : nil
  }

  private static func write(_ id: PushID, to arena: ByteArena) {
    arena.append(id.high)
    arena.append(id.low)
    arena.append(id.upperCase)
  }

  private static func readID(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> PushID {
    PushID(high: try reader.read(), low: try reader.read(), upperCase: try reader.read())
  }
}
