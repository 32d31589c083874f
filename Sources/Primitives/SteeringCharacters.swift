extension Unicode.Scalar {
  /// Whether it steers what shows it instead of being shown: the controls C0, DEL and C1, the line and paragraph separators, and what marks
  /// or turns the direction of writing (Unicode Standard Annex 9, section 2). In text that others choose, these forge lines, hide others, and
  /// have terminals do what nobody asked for.
  public var isSteering: Bool {
    switch value {
    case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension String {
  /// Whether any of it steers.
  public var hasSteering: Bool { unicodeScalars.contains { $0.isSteering } }

  /// The text with each character that steers as `\\u001b`, which inside JSON text means the same character; those of `kept` stay.
  public func escapingSteering(except kept: String.UnicodeScalarView = "".unicodeScalars) -> String {
    guard unicodeScalars.contains(where: { $0.isSteering && !kept.contains($0) }) else { return self }
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      guard scalar.isSteering, !kept.contains(scalar) else {
        text.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      text.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
    }
    return String(text)
  }
}
