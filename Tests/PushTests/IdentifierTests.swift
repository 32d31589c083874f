import Push
import Testing

@Suite("Identifiers") struct IdentifierTests {
  @Test(arguments: [
    "eabeae54-14a8-11e5-b60b-1697f925ec7b", "EABEAE54-14A8-11E5-B60B-1697F925EC7B", "eAbEaE54-14a8-11E5-b60b-1697f925eC7B",
  ]) func apnsIDKeepsItsCase(text: String) throws {
    let id = try #require(PushID(text))
    #expect(id.description == text)
    #expect(id == PushID("eabeae54-14a8-11e5-b60b-1697f925ec7b"))
  }

  @Test(arguments: ["", "eabeae54", "eabeae5414a8-11e5-b60b-1697f925ec7b-", "gabeae54-14a8-11e5-b60b-1697f925ec7b"])
  func badAPNsID(text: String) { #expect(PushID(text) == nil) }

  @Test func generatedIDsAreUpperCase() {
    #expect(PushID(high: 0xabcd_ef01_2345_6789, low: 0).description == "ABCDEF01-2345-6789-0000-000000000000")
  }

  @Test(arguments: [1, 32, 54, 80, 100]) func deviceTokensOfEveryKnownLength(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let token = try #require(DeviceToken(hex: bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()))
    #expect(token.bytes == bytes)
    #expect(DeviceToken(hex: token.hex.uppercased()) == token)
    #expect(token.hash(seed: 1) == DeviceToken(hex: token.hex)?.hash(seed: 1))
    #expect(token.hash(seed: 1) != token.hash(seed: 2))
  }

  @Test(arguments: 1...DeviceToken.bytesMax) func deviceTokensAreWrittenAsTheyAreSpelled(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
    guard let token = DeviceToken(bytes: bytes.span.bytes) else {
      Issue.record("no token of \(count) bytes")
      return
    }
    #expect(token == DeviceToken(hex: token.hex))
    #expect(token.bytes == bytes)
    let written = [UInt8](unsafeUninitializedCapacity: 2 * count) { buffer, written in
      let room = UnsafeMutableRawBufferPointer(buffer)
      var output = OutputRawSpan(buffer: room, initializedCount: 0)
      token.writeHex(to: &output)
      written = output.finalize(for: room)
    }
    #expect(String(decoding: written, as: UTF8.self) == token.hex)
  }

  @Test(arguments: ["", "0", "0g", String(repeating: "00", count: 101)]) func badDeviceToken(hex: String) {
    #expect(DeviceToken(hex: hex) == nil)
  }

  @Test func namesRoundTrip() {
    for value in PushType.allCases { #expect(PushType(value.description) == value) }
    for value in Reason.allCases { #expect(Reason(value.description) == value) }
    for value in Cause.allCases { #expect(Cause(name: value.name) == value) }
    for value in Disposition.allCases { #expect(Disposition(name: value.name) == value) }
    for value in TokenKind.allCases { #expect(TokenKind(name: value.name) == value) }
  }
}
