import Primitives
import Testing

@Suite("Base64 and hexadecimal") struct EncodingTests {
  /// Every length that exercises every remainder, in both alphabets, with every byte value.
  @Test(arguments: 0...48) func base64RoundTrip(length: Int) {
    let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length &* 11) }
    #expect(Base64.decode(Base64.encode(bytes, .standard)) == bytes)
    #expect(Base64.decode(Base64.encode(bytes, .urlSafe)) == bytes)
  }

  @Test(arguments: ["A", "AA=", "AAA==", "A A=", "AA\n=", "====", "AA==="]) func badBase64(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test func hexadecimal() {
    #expect(Hexadecimal.encode([0, 0x7f, 0xff]) == "007fff")
    #expect(Hexadecimal.decode("007FfF") == [0, 0x7f, 0xff])
    #expect(Hexadecimal.decode("0") == nil)
    #expect(Hexadecimal.decode("0g") == nil)
  }

  @Test func nearest() {
    #expect(nearestName(to: "bundelID", among: ["bundleID", "type"]) == "bundleID")
    #expect(nearestName(to: "zzzzzzzz", among: ["bundleID", "type"]) == nil)
  }
}
