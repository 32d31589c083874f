/// A single value that a file, an environment variable and a flag can set.
public struct ConfigurationKey: Hashable, Sendable {
  /// Its place in the file, such as `provider.port`.
  public var path: String
  /// What stands for the value in help texts, such as `PORT`.
  public var placeholder: String
  /// One line for help texts: meaning, unit and, in parentheses at the end, the default.
  public var summary: String

  /// A key with these values.
  public init(_ path: String, _ placeholder: String, _ summary: String) {
    self.path = path
    self.placeholder = placeholder
    self.summary = summary
  }

  /// The default as people read it: what stands in parentheses at the end of the summary; nil where nothing does.
  public var standard: String? {
    guard summary.hasSuffix(")"), let open = summary.lastIndex(of: "(") else { return nil }
    return String(summary[summary.index(after: open)...].dropLast())
  }

  /// The environment variable: `WIDGETPUSH_PROVIDER_PORT`.
  public var variable: String {
    "WIDGETPUSH_" + words(UInt8(ascii: "_")) { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") ? $0 & ~0x20 : $0 }
  }

  /// The flag: `--provider-port`.
  public var flag: String { "--" + words(UInt8(ascii: "-")) { $0 } }

  /// The words of the path, which is ASCII: `pushLog.maxEntries` has push, log, max and entries. Byte by byte, since each value of a
  /// configuration asks for both names.
  private func words(_ separator: UInt8, _ change: (UInt8) -> UInt8) -> String {
    var bytes: [UInt8] = []
    for byte in path.utf8 {
      if byte == UInt8(ascii: ".") {
        bytes.append(separator)
      } else if byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") {
        bytes.append(separator)
        bytes.append(change(byte | 0x20))
      } else {
        bytes.append(change(byte))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
