public import JSON
public import Push

/// One page of a list as JSON text, `{…,"NAME":[row,…],…}`, made row by row and bounded in bytes.
///
/// A row may be a hundred times as large as another, so a bound of rows alone bounds nothing.
public struct PageBody {
  private var text: String
  private let bytesMax: Int
  /// Rows that are in it.
  public private(set) var count = 0

  /// An empty page of the list `name` behind the members of `head`; once it has `bytesMax` bytes, it is full.
  public init(_ name: String, behind head: JSONObject = [:], bytesMax: Int = Limits.pageBytes) {
    let members = JSONValue.object(head).serialized().dropLast()
    text = members + (members == "{" ? "" : ",") + "\"\(name)\":["
    self.bytesMax = bytesMax
  }

  /// Adds rows until they end or the page is full, but at least one; returns the last that is in it where some are not.
  public mutating func fill<Row>(_ rows: some Sequence<Row>, _ json: (Row) -> JSONValue) -> Row? {
    var last: Row?
    for row in rows {
      guard text.utf8.count < bytesMax || count == 0 else { return last }
      if count > 0 { text += "," }
      text += json(row).serialized()
      count += 1
      last = row
    }
    return nil
  }

  /// The page, with `rest` behind its rows.
  public func response(_ rest: JSONObject = [:]) -> HTTPResponse {
    let members = JSONValue.object(rest).serialized()
    var response = HTTPResponse.text(text + (members == "{}" ? "]}" : "],\(members.dropFirst())") + "\n")
    response.fields = ["content-type": "application/json"]
    return response
  }
}
