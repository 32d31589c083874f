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
    #expect(nearestName(to: "prod", among: ["development", "production"]) == "production")
    #expect(nearestName(to: "zzzzzzzz", among: ["bundleID", "type"]) == nil)
  }
}

@Suite("Eight hexadecimal digits") struct EightDigitsTests {
  /// Every byte value in every place and every pattern of capitals, against the digit by digit writing.
  @Test func writesWhatTheSingleDigitWrites() {
    for place in 0..<4 {
      for byte in UInt8.min...UInt8.max {
        let bytes = 0x09AF_5EC3 & ~(0xFF << UInt32(8 * place)) | UInt32(byte) << UInt32(8 * place)
        for capitals in [0, 0xFF, byte &* 167] {
          let digits = Hexadecimal.digits(of: bytes, upperCase: capitals)
          for digit in 0..<8 {
            let value = UInt8(truncatingIfNeeded: bytes >> UInt32(8 * (digit / 2)))
            let lower = Hexadecimal.digit(digit % 2 == 0 ? value >> 4 : value & 15)
            let isCapital = lower >= UInt8(ascii: "a") && capitals >> UInt8(digit) & 1 == 1
            #expect(
              UInt8(truncatingIfNeeded: digits >> UInt64(8 * digit)) == (isCapital ? lower & ~0x20 : lower),
              "\(bytes) \(capitals) \(digit)")
          }
        }
      }
    }
  }

  /// Every byte value in every place, against the digit by digit reading.
  @Test func agreesWithTheSingleDigit() {
    for place in 0..<8 {
      for byte in UInt8.min...UInt8.max {
        var digits = Array("0a9F7bC4".utf8)
        digits[place] = byte
        let word = digits.span.bytes.word(0)
        let values = digits.map { Hexadecimal.value(of: $0) }
        guard let eight = Hexadecimal.eight(word) else {
          #expect(values.contains(nil), "\(byte) at \(place)")
          continue
        }
        #expect(!values.contains(nil), "\(byte) at \(place)")
        for index in 0..<4 {
          let expected = (values[2 * index] ?? 0) << 4 | (values[2 * index + 1] ?? 0)
          #expect(UInt8(truncatingIfNeeded: eight.bytes >> UInt32(8 * index)) == expected)
        }
        for index in 0..<8 {
          let isUpper = digits[index] >= UInt8(ascii: "A") && digits[index] <= UInt8(ascii: "F")
          #expect((eight.upperCase >> UInt8(index) & 1 == 1) == isUpper)
        }
      }
    }
  }

  @Test(arguments: 0..<20) func spansCompareWhole(count: Int) {
    let bytes = (0..<count).map { UInt8($0) }
    func isSame(_ other: [UInt8]) -> Bool { bytes.span.bytes.equals(other.span.bytes) }
    #expect(isSame(bytes))
    #expect(!isSame(bytes + [0]))
    for index in 0..<count {
      var other = bytes
      other[index] ^= 1
      #expect(!isSame(other))
    }
  }
}
