import Primitives
import Push
import Testing

@testable import Storage

@Suite("Details of broadcasts") struct BroadcastDetailTests {
  /// What its warnings are about is kept with a broadcast, and a record that an earlier version has saved is read without.
  @Test func theDetailsOfWarningsAreKept() async throws {
    let stage = try BroadcastTests.Stage()
    defer { stage.store.stop() }
    #expect(await stage.ask(.create(BroadcastTests.channel(1), .none)) == .done)
    var submission = BroadcastSubmission(
      id: Bench.id(1), channel: BroadcastTests.channel(1), expiration: .zero, warnings: PushWarnings(.unusedAPSKeys), received: stage.now,
      payload: BroadcastTests.payload)
    submission.warningDetails = [WarningDetail(.unusedAPSKeys, field: "aps.sound", detail: "put it at aps.alert.sound")]
    #expect(await stage.ask(.send(submission)) == .done)
    let record = try #require(try await stage.record(1))
    #expect(record.warningDetails == submission.warningDetails)
    let saved = BroadcastCoding.encode(record)[...]
    let text = WarningDetail.text(of: record.warningDetails)
    for (bytes, details) in [(saved, record.warningDetails), (saved.dropLast(4 + text.utf8.count), [])] {
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
      defer { copy.deallocate() }
      copy.copyBytes(from: bytes)
      #expect(try BroadcastCoding.decode(UnsafeRawBufferPointer(copy), number: record.sequence).warningDetails == details)
    }
  }
}
