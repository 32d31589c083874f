/// What a warning of one push is about: a key, a header or a date, what stands there, and what would be right.
public struct WarningDetail: Hashable, Sendable {
  /// The warning.
  public var warning: PushWarning
  /// The header or the payload's field at fault, such as `aps.sound`.
  public var field: String
  /// What stands there and what would be right, without a period at its end.
  public var detail: String

  /// The detail of that warning.
  public init(_ warning: PushWarning, field: String, detail: String) {
    self.warning = warning
    self.field = field
    self.detail = detail
  }
}

extension WarningDetail {
  /// The details as the log keeps them with a push: one a line, its warning's name, the field and the sentence between tabulators. At most
  /// `Limits.warningDetailsBytes`, of which each has `Limits.warningDetailBytes` at most; what finds no room is left out.
  public static func text(of details: [WarningDetail]) -> String {
    var text = ""
    for detail in details {
      let line = [detail.warning.name, plain(detail.field), plain(detail.detail)].joined(separator: "\t")
      if text.utf8.count + line.utf8.count < Limits.warningDetailsBytes { text += text.isEmpty ? line : "\n" + line }
    }
    return text
  }

  /// What `text(of:)` has written; a line of a warning that this version does not know is passed over.
  public static func read(_ text: String) -> [WarningDetail] {
    text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, let warning = PushWarning.allCases.first(where: { $0.name == parts[0] }) else { return nil }
      return WarningDetail(warning, field: String(parts[1]), detail: String(parts[2]))
    }
  }

  /// On one line, and no longer than a detail may be.
  private static func plain(_ text: String) -> String {
    var plain = ""
    var bytes = 0
    for scalar in text.unicodeScalars {
      let isControl = scalar.value < 0x20 || scalar.value == 0x7F
      bytes += isControl ? 3 : UTF8.width(scalar)
      guard bytes <= Limits.warningDetailBytes else { return plain + "…" }
      plain.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
    }
    return plain
  }
}
