import Primitives
import Push

/// A broadcast's record in bytes. Enumeration cases are saved by name, so that later versions may add some anywhere.
enum BroadcastCoding {
  static func encode(_ record: BroadcastRecord) -> [UInt8] {
    let arena = ByteArena(capacity: 512)
    arena.append(record.id.high)
    arena.append(record.id.low)
    arena.append(record.id.upperCase)
    append(record.owner.bundleID, to: arena)
    append(record.owner.environment.name, to: arena)
    arena.append(record.channel.high)
    arena.append(record.channel.low)
    arena.append(Int8(record.priority.map { Int8($0.rawValue) } ?? -1))
    arena.append(expiration(record.expiration))
    arena.append(record.received.nanoseconds)
    let warnings = record.warnings.all
    arena.append(UInt16(clamping: warnings.count))
    for warning in warnings { append(warning.name, to: arena) }
    arena.append(UInt8(record.mergedInto == nil ? 0 : 1))
    if let id = record.mergedInto {
      arena.append(id.high)
      arena.append(id.low)
      arena.append(id.upperCase)
    }
    arena.append(UInt16(clamping: record.deliveries.count))
    for delivery in record.deliveries {
      arena.append(delivery.upstream)
      append(delivery.disposition, delivery.cause, to: arena)
      arena.append(Int64(delivery.attempts))
      arena.append(delivery.due.nanoseconds)
      arena.append(Int64(delivery.reached ?? -1))
      arena.append(Int64(delivery.applied ?? -1))
      append(delivery.detail ?? "", to: arena)
    }
    arena.append(UInt16(clamping: record.steps.count))
    for step in record.steps {
      arena.append(step.at.nanoseconds)
      append(step.disposition, step.cause, to: arena)
      arena.append(Int32(step.upstream.map { Int32($0) } ?? -1))
      arena.append(Int32(step.attempt ?? -1))
    }
    append(WarningDetail.text(of: record.warningDetails), to: arena)
    return Array(arena.buffer)
  }

  static func decode(_ bytes: UnsafeRawBufferPointer, number: UInt64) throws(ByteReader.Malformed) -> BroadcastRecord {
    var reader = ByteReader(bytes)
    let id = PushID(high: try reader.read(), low: try reader.read(), upperCase: try reader.read())
    let bundleID = try text(&reader)
    guard let environment = PushEnvironment(name: try text(&reader)) else { throw ByteReader.Malformed() }
    let channel = ChannelID(high: try reader.read(), low: try reader.read())
    let priority = try reader.read(Int8.self)
    let expiration = expiration(try reader.read())
    var record = BroadcastRecord(
      sequence: number, id: id, owner: ChannelOwner(bundleID: bundleID, environment: environment), channel: channel,
      priority: UInt8(exactly: priority).flatMap(Priority.init(rawValue:)), expiration: expiration,
      received: Instant(nanoseconds: try reader.read()), warnings: [])
    for _ in 0..<(try reader.read(UInt16.self)) {
      let name = try text(&reader)
      if let warning = PushWarning.allCases.first(where: { $0.name == name }) { record.warnings.insert(warning) }
    }
    if try reader.read(UInt8.self) == 1 {
      record.mergedInto = PushID(high: try reader.read(), low: try reader.read(), upperCase: try reader.read())
    }
    for _ in 0..<(try reader.read(UInt16.self)) {
      let upstream: UInt16 = try reader.read()
      let (disposition, cause) = try meaning(&reader)
      let attempts: Int64 = try reader.read()
      var delivery = BroadcastRecord.Delivery(
        upstream: upstream, disposition: disposition, cause: cause, attempts: Int(attempts), due: Instant(nanoseconds: try reader.read()))
      let (reached, applied): (Int64, Int64) = (try reader.read(), try reader.read())
      if reached >= 0 { delivery.reached = Int(reached) }
      if applied >= 0 { delivery.applied = Int(applied) }
      let detail = try text(&reader)
      if !detail.isEmpty { delivery.detail = detail }
      record.deliveries.append(delivery)
    }
    for _ in 0..<(try reader.read(UInt16.self)) {
      let at = Instant(nanoseconds: try reader.read())
      let (disposition, cause) = try meaning(&reader)
      let (upstream, attempt): (Int32, Int32) = (try reader.read(), try reader.read())
      record.steps.append(
        BroadcastRecord.Step(
          at: at, disposition: disposition, cause: cause, upstream: UInt16(exactly: upstream), attempt: attempt < 0 ? nil : Int(attempt)))
    }
    // Earlier versions have saved none.
    if !reader.isAtEnd { record.warningDetails = WarningDetail.read(try text(&reader)) }
    return record
  }

  /// Unix seconds, 0 for zero and -1 for none.
  private static func expiration(_ value: Expiration) -> Int64 {
    switch value {
    case .absent: -1
    case .zero: 0
    case .at(let date): date.unixSeconds
    }
  }

  private static func expiration(_ seconds: Int64) -> Expiration {
    seconds < 0 ? .absent : seconds == 0 ? .zero : .at(Instant(unixSeconds: seconds))
  }

  private static func append(_ disposition: Disposition, _ cause: Cause, to arena: ByteArena) {
    append(disposition.name, to: arena)
    append(cause.name, to: arena)
  }

  private static func meaning(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> (Disposition, Cause) {
    guard let disposition = Disposition(name: try text(&reader)), let cause = Cause(name: try text(&reader)) else {
      throw ByteReader.Malformed()
    }
    return (disposition, cause)
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
