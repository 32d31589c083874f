import Primitives
import Push
import Testing

@testable import Storage

/// What warnings are about takes room that is bounded: the newest pushes have it.
@Suite("Room for details of warnings") struct WarningDetailLogTests {
  @Test func theOldestDetailsMakeRoom() throws {
    let texts = BlockPool(bytesMax: 32 * 1024)
    var log = PushLog(capacity: 256, seed: 7, texts: texts)
    let details = Array(String(repeating: "d", count: 700).utf8)
    let said = Array("no widget of kind Clock".utf8)
    for number in 1...60 {
      let step = LogStep(at: Instant(unixSeconds: 1), disposition: .forwarding, cause: .none)
      log.append(
        LogEntry(
          sequence: log.next, received: Instant(unixSeconds: 1), id: Bench.id(number), token: 0, route: 0,
          warnings: PushWarnings(.customKeys), type: .widgets, priority: .immediate, step: step))
      let entry = try #require(log[UInt64(number)])
      log.setWarningDetails(details.span.bytes, of: entry)
      #expect(entry.pointee.detail.head.elementsEqual(details), "\(number)")
      log.setDetail(said.span.bytes, of: entry)
      #expect(entry.pointee.detail.head.elementsEqual(details) && entry.pointee.detail.string == "no widget of kind Clock", "\(number)")
    }
    let kept = (1...60).filter { log[UInt64($0)]?.pointee.detail.head.isEmpty == false }
    #expect(kept.count >= 12 && kept == Array((61 - kept.count)...60), "\(kept)")
    #expect(texts.bytes <= 32 * 1024)
  }

  @Test(arguments: [0, 1, 700, 2000]) func aTextAndWhatStandsInFrontAreToldApart(count: Int) {
    let pool = BlockPool(bytesMax: 1 << 20)
    let head = Array(String(repeating: "h", count: min(count, Limits.warningDetailsBytes)).utf8)
    for text in ["", "x", String(repeating: "☀", count: Limits.detailBytes)] {
      let bytes = Array(text.utf8)
      let kept = LogText(head: head.span.bytes, bytes.span.bytes, in: pool)
      #expect(kept.head.elementsEqual(head) && text.hasPrefix(kept.string) && Int(kept.count) == kept.bytes.count)
      #expect(kept.string.utf8.count == min(bytes.count, Limits.detailBytes / 3 * 3) || text == "x")
      kept.release(to: pool)
    }
    #expect(pool.lentBytes == 0)
  }
}
