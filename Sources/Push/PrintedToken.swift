extension DeviceToken {
  /// What prints a whole push token, for those who have printed it some other way.
  private static let printing = "token.map { String(format: \"%02x\", $0) }.joined()"

  /// What is wrong with a token that was printed rather than written in hexadecimal, and what would be right; nil for a text that is no
  /// printed token.
  ///
  /// - `<740f4707 bebcf74f …>`, as `Data` was printed up to iOS 12, is put right.
  /// - `{length = 32, bytes = 0x740f4707 bebcf74f ... }`, as it is since, has lost its middle and cannot be.
  /// - `32 bytes` is what Swift prints, and `Optional(…)` is put around each of them.
  public static func complaint(aboutPrinted text: String) -> String? {
    var printed = text[...]
    if printed.hasPrefix("Optional("), printed.hasSuffix(")") { printed = printed.dropFirst(9).dropLast() }
    let isCut = printed.contains("...") || printed.contains("…")
    if printed.hasPrefix("<"), printed.hasSuffix(">") {
      if let token = whole(printed.dropFirst().dropLast()) {
        return "the push token must be hexadecimal digits alone, without the brackets and spaces of a printed Data value: \(token.hex)"
      }
      return isCut ? "of a printed Data value the middle is cut, and cannot be restored: print the token with \(printing)" : nil
    }
    if printed.hasPrefix("{length"), let start = printed.firstRange(of: "0x")?.upperBound {
      if !isCut, let token = whole(printed[start...].prefix { $0 != "}" }) {
        return "the push token of this printed Data value is what stands behind 0x: \(token.hex)"
      }
      return "a printed Data value, {length = …}, cannot be repaired, its middle is cut: print the token whole with \(printing)"
    }
    let words = printed.split(separator: " ")
    if words.count == 2, words[1] == "bytes", Int(words[0]) != nil {
      return "\"\(words[0]) bytes\" is what Swift prints of a Data value, and nothing of the token: print it with \(printing)"
    }
    return nil
  }

  /// The token that the digits spell without the spaces between them.
  private static func whole(_ digits: Substring) -> DeviceToken? { DeviceToken(hex: String(digits.filter { $0 != " " })) }
}
