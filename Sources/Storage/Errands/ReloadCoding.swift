import Primitives
import Push

/// A reload in bytes: what was asked for, which never changes, and how far it has come, which is written with every slice.
enum ReloadCoding {
  static func fixed(_ reload: Reload, to arena: ByteArena) {
    write(reload.id, to: arena)
    arena.append(reload.created.nanoseconds)
    arena.append(reload.request.spread.nanoseconds)
    arena.append(reload.request.caller)
    arena.append(UInt8(reload.request.key == nil ? 0 : 1))
    if let key = reload.request.key { arena.append(key) }
    let selector = reload.request.selector
    arena.append(selector.bundleID)
    for names in [selector.kinds, selector.controls, selector.users, selector.devices] {
      arena.append(UInt32(names.count))
      for name in names { arena.append(name) }
    }
  }

  static func progress(_ reload: Reload, to arena: ByteArena) {
    arena.append(reload.state.rawValue)
    arena.append(reload.ended?.nanoseconds ?? Int64.min)
    arena.append(Int64(reload.matches ?? -1))
    arena.append(Int64(reload.visited))
    arena.append(Int64(reload.skipped))
    arena.append(UInt32(reload.position.list))
    let after = reload.position.after?.bytes ?? []
    arena.append(UInt8(after.count))
    after.withUnsafeBytes { _ = arena.append($0) }
    // By name, since raw values move when cases are added.
    let ends = Disposition.allCases.filter { reload.ends[Int($0.rawValue)] > 0 }
    arena.append(UInt8(ends.count))
    for disposition in ends {
      arena.append(disposition.name)
      arena.append(Int64(reload.ends[Int(disposition.rawValue)]))
    }
    if let instant = reload.resumesAt { arena.append(instant.nanoseconds) }
  }

  static func decode(_ fixed: inout ByteReader, _ progress: inout ByteReader) throws(ByteReader.Malformed) -> Reload {
    let id = PushID(high: try fixed.read(), low: try fixed.read(), upperCase: try fixed.read())
    let created = Instant(nanoseconds: try fixed.read())
    let spread = TimeSpan(nanoseconds: try fixed.read())
    let caller = try fixed.readText()
    let key = try fixed.read(UInt8.self) == 1 ? try fixed.readText() : nil
    let bundleID = try fixed.readText()
    var lists: [[String]] = []
    for _ in 0..<4 {
      var names: [String] = []
      for _ in 0..<(try fixed.read(UInt32.self)) { names.append(try fixed.readText()) }
      lists.append(names)
    }
    let selector = ReloadSelector(bundleID: bundleID, kinds: lists[0], controls: lists[1], users: lists[2], devices: lists[3])
    var reload = Reload(
      id: id, request: ReloadRequest(selector: selector, spread: spread, key: key, caller: caller), created: created)
    guard let state = Reload.State(rawValue: try progress.read()) else { throw ByteReader.Malformed() }
    reload.state = state
    let ended: Int64 = try progress.read()
    if ended != .min { reload.ended = Instant(nanoseconds: ended) }
    let matches: Int64 = try progress.read()
    if matches >= 0 { reload.matches = Int(matches) }
    reload.visited = Int(try progress.read(Int64.self))
    reload.skipped = Int(try progress.read(Int64.self))
    let list = Int(try progress.read(UInt32.self))
    let after = try progress.read(count: Int(try progress.read(UInt8.self)))
    reload.position = ReloadPosition(list: list, after: DeviceToken(bytes: RawSpan(_unsafeBytes: after)))
    for _ in 0..<(try progress.read(UInt8.self)) {
      let name = try progress.readText()
      let count: Int64 = try progress.read()
      guard let disposition = Disposition(name: name) else { throw ByteReader.Malformed() }
      reload.ends[Int(disposition.rawValue)] = Int(count)
    }
    // Earlier builds did not write it.
    if !progress.isAtEnd { reload.resumesAt = Instant(nanoseconds: try progress.read()) }
    return reload
  }

  private static func write(_ id: PushID, to arena: ByteArena) {
    arena.append(id.high)
    arena.append(id.low)
    arena.append(id.upperCase)
  }
}

extension ByteArena {
  /// Appends text with its length.
  func append(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      append(UInt32(bytes.count))
      append(UnsafeRawBufferPointer(bytes))
    }
  }
}

extension ByteReader {
  /// Text that was written with its length.
  mutating func readText() throws(Malformed) -> String {
    String(decoding: try read(count: Int(try read(UInt32.self))), as: UTF8.self)
  }
}
