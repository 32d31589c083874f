import Configuration
import Control
import Dispatch
import HTTPClient
import JSON
import Primitives
import Push

/// A mock device in another process, whose clock is moved along with the gateway's through its own API.
///
/// The gateway leads: whoever asks only the gateway has both at the same time.
final class DeviceClock: ClockPart {
  private let name: String
  private let upstream: UpstreamSettings
  private let locate: (@Sendable () -> (host: String, port: UInt16)?)?
  private let secret: String
  private let client: BlockingHTTPClient
  /// Where calls block.
  private let queue = DispatchQueue(label: "device clock")

  /// The device at that upstream; nil where no access token for it is known.
  ///
  /// - Parameter locate: Tells where a device is that is followed.
  init?(_ upstream: UpstreamSettings, _ locate: (@Sendable () -> (host: String, port: UInt16)?)? = nil) {
    guard let secret = upstream.accessToken else { return nil }
    self.secret = secret
    name = upstream.name
    self.upstream = upstream
    self.locate = upstream.followsDevice ? locate : nil
    client = BlockingHTTPClient(
      trust: upstream.authorityPEM.map { .pem($0) } ?? .system,
      bounds: .init(connect: .seconds(2), total: .milliseconds(Limits.deviceClockMilliseconds)))
  }

  private var url: String {
    let (host, port) = locate?() ?? (upstream.host, upstream.port)
    return "https://\(host.contains(":") ? "[\(host)]" : host):\(port)/v1/clock"
  }

  func clockChanged(to time: VirtualTime, at real: Instant) async {
    let body: JSONValue = ["now": .string(time.now(at: real).preciseDescription), "frozen": .bool(time.frozenAt != nil)]
    // What goes wrong shows when its standing is asked for.
    _ = await call("PUT", body)
  }

  func standing(of time: VirtualTime, until: Instant?, real: @Sendable () -> Instant) async -> ClockStanding {
    while true {
      let standing = await look(time)
      // Nothing has changed at a device that cannot be asked: waiting would not help.
      guard let until, !standing.isSettled, standing.changes > 0, real() < until else { return standing }
      try? await Task.sleep(for: .milliseconds(Limits.deviceClockPauseMilliseconds))
    }
  }

  private func look(_ time: VirtualTime) async -> ClockStanding {
    let answer: JSONValue
    switch await call("GET", nil) {
    case .success(let json): answer = json
    case .failure(let problem): return trouble(problem.message)
    }
    guard answer["permitted"]?.boolValue == true else {
      return trouble("does not permit that its clock is moved: set clock.permitted there")
    }
    guard let now = answer["now"]?.stringValue.flatMap({ Instant(rfc3339: $0) }) else { return trouble("does not tell its time") }
    if let frozenAt = time.frozenAt, now != frozenAt {
      return trouble("shows \(now), and its clock cannot be set to \(frozenAt); restart it")
    }
    let listed = (answer["outstanding"]?.arrayValue ?? []).map { ClockWork($0["message"]?.stringValue ?? "") }
    // What is listed is left to do, whatever the count beside it says.
    return ClockStanding(
      next: answer["next"].flatMap { ClockEvent($0) }, outstanding: listed,
      outstandingCount: max(listed.count, Self.count(answer["outstandingCount"])), changes: 1 + UInt64(Self.count(answer["changes"])))
  }

  /// A count that a device tells, whatever it tells: none is negative, and several can be added up.
  private static func count(_ value: JSONValue?) -> Int { Int(min(max(0, value?.intValue ?? 0), Int64(UInt32.max))) }

  private func trouble(_ clause: String) -> ClockStanding { ClockStanding(outstanding: [ClockWork("the mock device \(name) \(clause)")]) }

  private struct Problem: Error { let message: String }

  private func call(_ method: String, _ body: JSONValue?) async -> Result<JSONValue, Problem> {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        var request = BlockingHTTPClient.Request(method, url)
        request.fields = [.init("authorization", "Bearer \(secret)")]
        request.body = body.map { Array($0.serialized().utf8) }
        do throws(BlockingHTTPClient.Failure) {
          let response = try client.perform(request)
          let json = (try? JSONValue.parse(response.body)) ?? .null
          guard response.status == 200 else {
            return continuation.resume(returning: .failure(Problem(message: "answers \(response.status)")))
          }
          continuation.resume(returning: .success(json))
        } catch {
          continuation.resume(returning: .failure(Problem(message: "cannot be reached: \(error.message)")))
        }
      }
    }
  }
}
