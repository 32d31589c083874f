import Control
import JSON
import Primitives
import Push
import Security
import Storage

extension ControlAPI {
  /// `/v1/events`.
  var eventRoutes: [Route] { [Route(.get, "/v1/events", .scope(.read), events)] }

  /// Pushes as they change, as server-sent events (WHATWG HTML section 9.2).
  @Sendable private func events(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var reader = routed.request.query.reader()
    let query = try await criteria(&reader, routed.grant)
    try reader.finish()
    let place = try lastEvent(routed.request)
    let taken = try parts.followers.take(routed.grant, bundleID: query.bundleID)
    let feed = try await asking { () async throws(StoreError) in try await parts.store.follow(query, after: place) }
    let (grant, heartbeat, longest) = (routed.grant, parts.heartbeat, TimeSpan.seconds(Limits.eventStreamSeconds))
    return HTTPResponse(
      status: 200, fields: ["content-type": "text/event-stream", "cache-control": "no-store"],
      stream: BodyStream { [numbers = parts.numbers] writer in
        await EventStream(feed, writer, grant, numbers).run(heartbeat: heartbeat, longest: longest)
        withExtendedLifetime(taken) {}
      })
  }

  private func lastEvent(_ request: HTTPRequest) throws(ControlError) -> EventPlace? {
    guard let text = request.fields["last-event-id"], !text.isEmpty else { return nil }
    guard let place = EventPlace(text: text, opening: { parts.numbers.number(in: $0) }) else {
      throw .badRequest(
        "last-event-id must be the id of an event that was received here, not \"\(text.prefix(64))\"", field: "last-event-id")
    }
    return place
  }
}

/// The events of one call on their way: as text, in pieces that a client takes at once.
private struct EventStream {
  /// Bytes of one write, beyond which another is begun; a client that reads has room for two.
  private static let pieceBytes = Limits.streamedBytes / 2

  private let feed: PushFeed
  private let writer: BodyWriter
  private let grant: Grant
  private let numbers: NumberCipher

  init(_ feed: PushFeed, _ writer: BodyWriter, _ grant: Grant, _ numbers: NumberCipher) {
    self.feed = feed
    self.writer = writer
    self.grant = grant
    self.numbers = numbers
  }

  /// Writes until the client has gone, nothing comes any more, or the time is up.
  func run(heartbeat: TimeSpan, longest: TimeSpan) async {
    await withTaskGroup { group in
      group.addTask { [feed] in
        // One clock for both: so many heartbeats are the longest time.
        for _ in 0..<max(1, longest.nanoseconds / heartbeat.nanoseconds) {
          guard (try? await Task.sleep(for: .nanoseconds(heartbeat.nanoseconds))) != nil else { return }
          feed.tick()
        }
        feed.end()
      }
      await writeAll()
      group.cancelAll()
    }
  }

  private func writeAll() async {
    guard await writer.writePatiently(Array(": what happens to pushes, from now on\nretry: 1000\n\n".utf8)) else { return }
    while let items = await feed.next() {
      guard !items.isEmpty else {
        guard await writer.writePatiently(Array(":\n\n".utf8)) else { return }
        continue
      }
      var piece: [UInt8] = []
      for item in items {
        piece += text(item).utf8
        guard piece.count >= Self.pieceBytes else { continue }
        guard await writer.writePatiently(piece) else { return }
        piece.removeAll(keepingCapacity: true)
      }
      if !piece.isEmpty { guard await writer.writePatiently(piece) else { return } }
    }
  }

  private func text(_ item: PushFeed.Item) -> String {
    switch item {
    case .push(let event):
      "id: \(event.place.text(sealing: numbers.text))\nevent: push\ndata: \(event.push.shown(to: grant).json.serialized())\n\n"
    case .lost(let count): "event: lost\ndata: {\"lost\":\(count)}\n\n"
    }
  }
}
