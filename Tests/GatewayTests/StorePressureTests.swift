import Delivery
import Primitives
import Push
import Storage
import Testing

@testable import Gateway

/// What a loop has in the store's hands before it reads no more.
@Suite("Store pressure") struct StorePressureTests {
  private func operation(_ bytes: Int) -> AdmitOperation {
    AdmitOperation(
      reply: 0, id: PushID(high: 0, low: 1, upperCase: 0), token: DeviceToken(hex: String(repeating: "ab", count: 32))!, type: .alert,
      traits: PushTraits(lane: .keep), received: Instant(unixSeconds: 0), topic: .empty, bundleID: .empty,
      payload: ByteRange(offset: 0, count: bytes))
  }

  @Test func pushesAreBounded() {
    var pressure = StorePressure()
    for _ in 1..<Limits.unsettledPushes { pressure.add(operation(100)) }
    #expect(!pressure.isHigh)
    pressure.add(operation(100))
    #expect(pressure.isHigh)
    // A quarter of them has to be settled.
    let quarter = ContiguousArray(repeating: operation(100), count: Limits.unsettledPushes / 4)
    let isRelievedByAQuarter = pressure.remove(quarter)
    #expect(!isRelievedByAQuarter && pressure.isHigh)
    let isRelieved = pressure.remove([operation(100)])
    #expect(isRelieved && !pressure.isHigh)
    let isRelievedAgain = pressure.remove([operation(100)])
    #expect(!isRelievedAgain, "told once")
  }

  @Test func bytesAreBounded() {
    var pressure = StorePressure()
    var count = 0
    while !pressure.isHigh {
      pressure.add(operation(8192))
      count += 1
    }
    #expect(count < Limits.unsettledPushes && count * 8192 < Limits.unsettledBytes)
    let isRelieved = pressure.remove(ContiguousArray(repeating: operation(8192), count: count))
    #expect(isRelieved && !pressure.isHigh)
  }
}
