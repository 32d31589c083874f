import Control
import Primitives
import Push
import Storage

extension ControlAPI {
  /// `/v1/recording`.
  var recordingRoutes: [Route] { [Route(.get, "/v1/recording", .scope(.admin), recording)] }

  /// Pushes as they come, with all that it takes to send them again: NDJSON, a `RecordingLine` a line.
  ///
  /// It needs the scope `admin`, since payloads are what no other call tells of pushes that have ended.
  @Sendable private func recording(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var reader = routed.request.query.reader()
    let bundleID = try reader.text("bundleID")
    try reader.finish()
    if let bundleID {
      guard AppDirectory.isBundleID(bundleID) else {
        throw .badRequest("bundleID must be a bundle id such as com.example.app, not \"\(bundleID.prefix(64))\"", field: "bundleID")
      }
      guard routed.grant.sees(bundleID) else {
        throw .forbidden("the access token \"\(routed.grant.name)\" is not one of the app \"\(bundleID)\"", field: "bundleID")
      }
    }
    let place = try parts.recorders.take(routed.grant, bundleID: bundleID)
    let query = PushQuery(bundleID: bundleID, visibleBundleIDs: routed.grant.bundleIDs)
    let feed = try await asking { () async throws(StoreError) in try await parts.store.follow(query, after: nil) }
    guard let queue = parts.recordings.open(visible: routed.grant.bundleIDs, bundleID: bundleID) else {
      throw .unavailable("\(Limits.recorders) calls record already, which is the most")
    }
    let longest = TimeSpan.seconds(Limits.recordingSeconds)
    let beginning = RecordingLine.Beginning(gateway: parts.version, bundleID: bundleID)
    // Closed also where the body is never begun.
    let open = OpenRecording(queue, parts.recordings)
    return HTTPResponse(
      status: 200, fields: ["content-type": "application/x-ndjson", "cache-control": "no-store"],
      stream: BodyStream { [parts] writer in
        await RecordingStream(queue: open.queue, feed: feed, beginning: beginning, parts: parts, writer: writer)
          .run(heartbeat: parts.heartbeat, longest: longest)
        open.close()
        withExtendedLifetime(place) {}
      })
  }
}

/// A recording that ends when it is closed, or let go of.
private final class OpenRecording: Sendable {
  let queue: RecordingQueue
  private let desk: RecordingDesk

  init(_ queue: RecordingQueue, _ desk: RecordingDesk) {
    self.queue = queue
    self.desk = desk
  }

  deinit { close() }

  func close() { desk.close(queue) }
}
