import Delivery
import Primitives
import Push
import Recorder
import Synchronization

@testable import Storage

extension BroadcastTests {
  /// A store whose broadcasts are caught.
  final class Stage: Sendable {
    let store: Store

    init(_ engine: any Engine = MemoryEngine(), upstreams: [String: UInt16] = [:], _ policy: AppPolicy = AppPolicy()) throws {
      let app = AppDirectory.App(bundleID: "", policy: policy)
      var settings = StoreSettings()
      settings.registrations = 1000
      settings.logEntries = 1024
      let sink = Sink()
      store = try Store(
        engine: engine, apps: AppDirectory([], anyApp: app), loops: 1, settings: settings, clock: { Moment(sink.now) },
        resolveUpstream: { _, _, name in name.flatMap { upstreams[$0] } ?? 0 },
        deliverBroadcast: { _, broadcast in sink.broadcasts.append(broadcast) }
      ) { _, _ in }
      self.sink = sink
    }

    private let sink: Sink

    private final class Sink: Sendable {
      let broadcasts = Recorder<ForwardedBroadcast>()
      let time = Mutex(Instant(unixSeconds: 1_800_000_000))
      var now: Instant { time.withLock { $0 } }
    }

    var now: Instant { sink.now }

    func advance(_ span: TimeSpan) {
      sink.time.withLock { $0 = $0 + span }
      store.clockChanged()
    }

    /// What was handed to the loop since the last call, once there are `count`.
    func sent(_ count: Int = 1) async throws -> [ForwardedBroadcast] {
      try await sink.broadcasts.until { $0.count >= count }
      return sink.broadcasts.take()
    }

    func ask(_ operation: ChannelOperation, _ owner: ChannelOwner = BroadcastTests.owner) async -> ChannelAnswer {
      await store.carryOut(operation, of: owner)
    }

    func send(_ number: Int, to channel: Int, _ expiration: Expiration = .zero, payload: [UInt8] = payload) async -> ChannelAnswer {
      await ask(
        .send(
          BroadcastSubmission(
            id: Bench.id(number), channel: BroadcastTests.channel(channel), expiration: expiration, received: now, payload: payload)))
    }

    func record(_ number: Int) async throws -> BroadcastRecord? { try await store.broadcasts(Bench.id(number)).first }

    func message(_ channel: Int) async throws -> StoredMessage? {
      try await store.storedMessage(BroadcastTests.channel(channel), bundleID: "com.example.app")
    }
  }
}
