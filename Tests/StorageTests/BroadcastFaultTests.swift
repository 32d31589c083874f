import Delivery
import Primitives
import Push
import Testing

@testable import Storage

extension BroadcastTests {
  /// A fault on a mock device is told of as one, for as long as its answer is the last one.
  @Test func aFaultIsNotTheUpstreamsOwnAnswer() async throws {
    let stage = try Stage()
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(Self.channel(1), .mostRecent)) == .done)
    #expect(await stage.send(1, to: 1, .at(stage.now + .seconds(3600))) == .done)
    stage.store.complete(try await stage.sent()[0].ticket, .retry(.fault), detail: "fault 1: answered 503", isFault: true)
    #expect(await stage.ask(.list) == .channels([Self.channel(1)]))
    let waiting = try #require(try await stage.record(1))
    #expect(waiting.outcome.disposition == .waiting && waiting.outcome.cause == .fault)
    #expect(waiting.deliveries.first?.detail == "fault 1: answered 503")
    stage.advance(.seconds(60))
    stage.store.complete(
      try await stage.sent()[0].ticket, .refused(status: 413, .payloadTooLarge), detail: "fault 2: answered 413", isFault: true)
    let failed = try #require(try await stage.store.broadcasts(Bench.id(1), until: stage.now + .seconds(10)).first)
    #expect(failed.outcome.disposition == .failed && failed.outcome.cause == .fault)
    #expect(failed.deliveries.first?.detail == "fault 2: answered 413")
    #expect(failed.steps.map(\.cause) == [.none, .fault, .none, .fault])

    #expect(await stage.send(2, to: 1, .at(stage.now + .seconds(3600))) == .done)
    stage.store.complete(try await stage.sent()[0].ticket, .retry(.fault), detail: "fault 1: answered 503", isFault: true)
    #expect(await stage.ask(.list) == .channels([Self.channel(1)]))
    stage.advance(.seconds(60))
    stage.store.complete(try await stage.sent()[0].ticket, .accepted, detail: "")
    let accepted = try #require(try await stage.store.broadcasts(Bench.id(2), until: stage.now + .seconds(10)).first)
    #expect(accepted.outcome.disposition == .accepted && accepted.outcome.cause == .none && accepted.deliveries.first?.detail == nil)
  }
}
