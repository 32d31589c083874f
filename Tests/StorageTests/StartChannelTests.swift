import Delivery
import Primitives
import Push
import Testing

@testable import Storage

@Suite("Channels of starts") struct StartChannelTests {
  private static let channel = ChannelID("aMs2y8fFEe8AAPIAM4gHog==")!

  /// A start that names the channel, sent to a token of its own.
  private func start(_ id: Int, _ bench: Bench) throws -> Admission {
    try bench.register(Bench.registration(id, .pushToStart))
    let batch = Batch()
    let traits = PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true)
    var operation = Bench.operation(batch, id: id, token: Bench.token(id), type: .liveactivity, at: bench.now, traits: traits)
    operation.channel = Self.channel
    batch.admits.append(operation)
    let preview = bench.state.preview(operation, batch, at: bench.now)
    try bench.settle(batch)
    #expect(preview.result == batch.admits[0].result && preview.detail == bench.record(id)?.detail ?? "")
    return batch.admits[0].result
  }

  /// Without a channel nothing starts, nor with one of another environment, nor with one that was deleted.
  @Test func aStartNeedsItsChannel() throws {
    let bench = try Bench()
    var changes: [BroadcastChange] = []
    func create(_ environment: PushEnvironment, in channels: inout ChannelTable) -> Bool {
      channels.create(Self.channel, .none, of: ChannelOwner(bundleID: Bench.bundle, environment: environment), &changes)
    }
    #expect(try start(1, bench) == .ended(.ignored, .channelUnknown))
    #expect(bench.record(1)?.detail?.contains("has no channel aMs2y8fFEe8AAPIAM4gHog== in development") == true)
    #expect(bench.record(1)?.steps.first?.budgetBefore == nil, "and nothing is paid")
    #expect(create(.production, in: &bench.state.casts.channels))
    #expect(try start(2, bench) == .ended(.ignored, .channelUnknown))
    bench.state.casts.channels = ChannelTable()
    #expect(create(.development, in: &bench.state.casts.channels))
    #expect(try start(3, bench) == .forwarded)
    bench.state.casts.channels.delete(bench.state.casts.channels[Self.channel]!, &changes)
    #expect(try start(4, bench) == .ended(.ignored, .channelUnknown))
    #expect(bench.record(4)?.detail?.contains("was deleted") == true)
    #expect(bench.forwarded.map(\.push.id) == [Bench.id(3)])
  }

  /// Channels at Apple are Apple's to know.
  @Test func aStartInFrontOfAppleIsSent() throws {
    let bench = try Bench { $0.appleUpstreams = Set(0..<8) }
    #expect(try start(1, bench) == .forwarded)
  }
}
