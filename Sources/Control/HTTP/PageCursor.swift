import Primitives

/// Where the next page of a list begins, as opaque text that can stand in a query unescaped.
///
/// The text is URL-safe base 64 of what the list is ordered by: clients carry it back and have no reason to look inside.
public enum PageCursor {
  /// The cursor of a position.
  public static func text(of position: some Collection<UInt8>) -> String { Base64.encode(position, .urlSafe) }

  /// The position of a cursor; nil when `text` is none.
  public static func position(of text: String) -> [UInt8]? { Base64.decode(text) }
}

extension QueryReader {
  /// The position that a list parameter such as `after` gives, or nil when absent; `parse` turns it into what the list is ordered by.
  public mutating func cursor<Position>(_ name: String, _ parse: ([UInt8]) -> Position?) throws(ControlError) -> Position? {
    try value(name, "the \"next\" of an earlier page") { text in PageCursor.position(of: text).flatMap(parse) }
  }
}
