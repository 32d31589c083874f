import Primitives
import Testing

@Suite("Characters that steer") struct SteeringTests {
  /// Every one of Unicode is judged, and nothing that can be seen is among them.
  @Test func whichTheyAre() {
    let all = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init).filter(\.isSteering).map(\.value)
    #expect(all == Array(0..<0x20) + Array(0x7F...0x9F) + [0x061C, 0x200E, 0x200F] + Array(0x2028...0x202E) + Array(0x2066...0x2069))
  }

  @Test func textIsEscapedAndTheRestIsLeft() {
    let text = "Zoë\u{1B}[31m\u{7}\u{7F}\u{9B}\n\u{202E}\u{2069}é\u{1F600}\r\n"
    #expect(
      text.escapingSteering() == "Zoë\\u001b[31m\\u0007\\u007f\\u009b\\u000a\\u202e\\u2069é\u{1F600}\\u000d\\u000a")
    #expect(text.hasSteering && !text.escapingSteering().hasSteering)
    #expect("a\nb\tc\rd".escapingSteering(except: "\n\t".unicodeScalars) == "a\nb\tc\\u000dd")
    #expect("Größe – “ok”".escapingSteering() == "Größe – “ok”" && !"Größe".hasSteering)
  }
}
