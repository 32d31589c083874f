import Control
import JSON
import Primitives
import Push
import Storage

/// One recording on its way to its caller: as lines, with each push's registration and app told before it.
struct RecordingStream: Sendable {
  /// Bytes of one write, beyond which another is begun; a client that reads has room for two.
  private static let pieceBytes = Limits.streamedBytes / 2

  let queue: RecordingQueue
  let feed: PushFeed
  let beginning: RecordingLine.Beginning
  let parts: ControlAPI.Parts
  let writer: BodyWriter

  /// Writes until the client has gone, nothing comes any more, or the time is up.
  func run(heartbeat: TimeSpan, longest: TimeSpan) async {
    await withTaskGroup { group in
      group.addTask { [queue] in
        // One clock for both: so many heartbeats are the longest time.
        for _ in 0..<max(1, longest.nanoseconds / heartbeat.nanoseconds) {
          guard (try? await Task.sleep(for: .nanoseconds(heartbeat.nanoseconds))) != nil else { return }
          queue.tick()
        }
        queue.end()
      }
      group.addTask { await passOutcomes() }
      await writeAll()
      group.cancelAll()
    }
    feed.end()
  }

  /// Has outcomes stand in the same queue as all else, so that none comes before its push.
  private func passOutcomes() async {
    while let items = await feed.next() {
      for item in items {
        switch item {
        case .lost(let count): queue.give(item: .lost(RecordingLine.Lost(outcomes: Int64(count))), at: now)
        case .push(let event):
          // What the gateway has made itself, nobody has sent; and what is on its way will be told when it is there.
          guard event.push.errand == nil, event.push.disposition != .forwarding else { continue }
          queue.give(
            item: .outcome(event.push.id, RecordedOutcome(event.push)), at: event.push.steps.last?.at ?? event.push.received)
        }
      }
    }
    // The store stops.
    queue.end()
  }

  private var now: Instant { parts.clock.clock.moment.now }

  private func writeAll() async {
    guard await write([RecordingLine(at: now, .beginning(beginning))]) else { return }
    var known = ToldThings()
    while let items = await queue.next() {
      var lines: [RecordingLine] = []
      for item in items { await lines.append(contentsOf: self.lines(item, &known)) }
      if items.isEmpty { lines.append(RecordingLine(at: now, .nothing)) }
      guard await write(lines) else { return }
    }
  }

  /// What `item` says, and before that what is needed to understand it and was not told yet.
  private func lines(_ item: RecordingQueue.Item, _ known: inout ToldThings) async -> [RecordingLine] {
    switch item.content {
    case .push(let push, let bundleID):
      var lines: [RecordingLine] = []
      if known.isNew(app: bundleID), let settings = settings(of: bundleID) {
        lines.append(RecordingLine(at: item.at, .app(bundleID: bundleID, settings)))
      }
      if let token = push.token, known.isNew(token), let registration = await registration(token, before: item.at) {
        lines.append(RecordingLine(at: item.at, .registration(registration)))
      }
      return lines + [RecordingLine(at: item.at, .push(push))]
    case .outcome(let id, let outcome): return [RecordingLine(at: item.at, .outcome(id, outcome))]
    case .registered(let registration, let replaced):
      _ = known.isNew(registration.token)
      var json = registration.json
      json["replaces"] = replaced.map { .string($0.hex) }
      return [RecordingLine(at: item.at, .registration(json))]
    case .unregistered(let token): return [RecordingLine(at: item.at, .unregistered(token.hex))]
    case .app(let bundleID):
      // Of an app that nobody has pushed to, the settings are told with its first push.
      guard known.knows(app: bundleID), let settings = settings(of: bundleID) else { return [] }
      return [RecordingLine(at: item.at, .app(bundleID: bundleID, settings))]
    case .lost(let lost): return [RecordingLine(at: item.at, .lost(lost))]
    }
  }

  /// A registration that stood when a push came. One that was made since is told in its turn.
  private func registration(_ token: DeviceToken, before at: Instant) async -> JSONObject? {
    guard let record = try? await parts.store.registration(token), record.registered <= at, queue.wants(record.registration.bundleID)
    else { return nil }
    return record.registration.json
  }

  /// What decides on the pushes of an app; not where they go.
  private func settings(of bundleID: String) -> JSONObject? {
    guard let view = (try? parts.settings?.view(bundleID))?.objectValue else { return nil }
    var settings: JSONObject = [:]
    for name in RecordingLine.appSettings { settings[name] = view[name] }
    return settings
  }

  /// False when the client has gone.
  private func write(_ lines: [RecordingLine]) async -> Bool {
    var piece: [UInt8] = []
    for line in lines {
      piece += line.text.utf8
      piece.append(UInt8(ascii: "\n"))
      while piece.count >= Self.pieceBytes {
        guard await writer.writePatiently(Array(piece.prefix(Self.pieceBytes))) else { return false }
        piece.removeFirst(Self.pieceBytes)
      }
    }
    return piece.isEmpty ? true : await writer.writePatiently(piece)
  }
}

/// What a recorder was told of already.
private struct ToldThings {
  private var apps: Set<String> = []
  private var tokens: Set<DeviceToken> = []

  /// Whether the app is new, which it then is not any more; without a name it is none.
  mutating func isNew(app bundleID: String) -> Bool { !bundleID.isEmpty && apps.count < Limits.apps && apps.insert(bundleID).inserted }

  func knows(app bundleID: String) -> Bool { apps.contains(bundleID) }

  /// Whether the token is new, which it then is not any more.
  mutating func isNew(_ token: DeviceToken) -> Bool {
    if tokens.count >= Limits.recordedTokens { tokens.removeAll() }
    return tokens.insert(token).inserted
  }
}

extension RecordingLine {
  /// The settings of an app that a recording tells.
  package static let appSettings = [
    "validation", "budgetMode", "unknownTokens", "expirationZero", "coalesceSeconds", "batchSeconds", "budgets", "contentStates",
  ]
}

extension RecordingQueue {
  /// Puts in what came at that time.
  fileprivate func give(item content: Content, at: Instant) { give(Item(at: at, content: content)) }
}

extension BodyWriter {
  /// Writes `bytes` as soon as the client has room; false when it has gone.
  func writePatiently(_ bytes: [UInt8]) async -> Bool {
    while true {
      switch await write(bytes) {
      case .taken: return true
      case .gone: return false
      case .full: guard (try? await Task.sleep(for: .milliseconds(Limits.eventPauseMilliseconds))) != nil else { return false }
      }
    }
  }
}
