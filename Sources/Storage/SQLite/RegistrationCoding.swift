import Primitives
import Push

/// The parts of a registration that have no column of their own, in bytes: lists and numbers that nobody looks for.
struct RegistrationDetails {
  private struct Flags: OptionSet {
    var rawValue: UInt8
    static let frequentUpdates = Flags(rawValue: 1)
    static let developerMode = Flags(rawValue: 2)
    static let minimumInterval = Flags(rawValue: 4)
    static let coalesce = Flags(rawValue: 8)
    static let control = Flags(rawValue: 16)
    static let activity = Flags(rawValue: 32)
    static let ownTerms = Flags(rawValue: 64)
  }

  /// The details of `registration`.
  static func encode(_ registration: Registration) -> [UInt8] {
    let arena = ByteArena(capacity: 256)
    var flags: Flags = []
    if registration.frequentUpdates { flags.insert(.frequentUpdates) }
    if registration.developerMode { flags.insert(.developerMode) }
    if registration.minimumInterval != nil { flags.insert(.minimumInterval) }
    if registration.coalesce != nil { flags.insert(.coalesce) }
    if registration.controlKind != nil { flags.insert(.control) }
    if registration.activity != nil { flags.insert(.activity) }
    let terms = OwnTerms(registration)
    if terms != nil { flags.insert(.ownTerms) }
    arena.append(flags.rawValue)
    if let span = registration.minimumInterval { arena.append(span.nanoseconds) }
    if let span = registration.coalesce { arena.append(span.nanoseconds) }
    if let kind = registration.controlKind { append(kind, to: arena) }
    if let activity = registration.activity {
      append(activity.id, to: arena)
      append(activity.attributesType, to: arena)
    }
    terms?.write(to: arena)
    arena.append(UInt16(clamping: registration.widgets.count))
    for widget in registration.widgets {
      arena.append(UInt8(widget.id == nil ? 0 : 1))
      if let id = widget.id { append(id, to: arena) }
      append(widget.kind, to: arena)
      append(widget.family, to: arena)
    }
    return Array(arena.buffer)
  }

  /// Sets the details of `registration` from what `encode` made.
  static func decode(_ bytes: UnsafeRawBufferPointer, into registration: inout Registration) throws(ByteReader.Malformed) {
    var reader = ByteReader(bytes)
    let flags = Flags(rawValue: try reader.read())
    registration.frequentUpdates = flags.contains(.frequentUpdates)
    registration.developerMode = flags.contains(.developerMode)
    if flags.contains(.minimumInterval) { registration.minimumInterval = TimeSpan(nanoseconds: try reader.read()) }
    if flags.contains(.coalesce) { registration.coalesce = TimeSpan(nanoseconds: try reader.read()) }
    if flags.contains(.control) { registration.controlKind = try text(&reader) }
    if flags.contains(.activity) {
      registration.activity = Registration.Activity(id: try text(&reader), attributesType: try text(&reader))
    }
    if flags.contains(.ownTerms) {
      let terms = try OwnTerms(&reader)
      (registration.budget, registration.quietHours) = (terms.budget, terms.quietHours)
    }
    let count: UInt16 = try reader.read()
    for _ in 0..<count {
      let id = try reader.read(UInt8.self) == 1 ? try text(&reader) : nil
      registration.widgets.append(Registration.Widget(id: id, kind: try text(&reader), family: try text(&reader)))
    }
  }

  private static func append(_ text: String, to arena: ByteArena) {
    var text = text
    text.withUTF8 { bytes in
      arena.append(UInt32(bytes.count))
      arena.append(UnsafeRawBufferPointer(bytes))
    }
  }

  private static func text(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> String {
    String(decoding: try reader.read(count: Int(try reader.read(UInt32.self))), as: UTF8.self)
  }
}
