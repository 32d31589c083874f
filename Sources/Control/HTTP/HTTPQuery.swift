/// The parameters of a query, decoded, in the order they came.
public struct HTTPQuery: Hashable, Sendable {
  /// One parameter.
  public struct Parameter: Hashable, Sendable {
    /// What stood before the equals sign.
    public let name: String
    /// What stood behind it; empty when there was none.
    public let value: String
  }

  /// The parameters.
  public let parameters: [Parameter]

  /// The parameters of `text`, which stood behind the question mark; throws when percent-encoding is wrong.
  public init(_ text: String) throws(ControlError) {
    var parameters: [Parameter] = []
    for part in text.split(separator: "&") {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decode(sides[0], plusIsSpace: true),
        let value = PercentEncoding.decode(sides.count > 1 ? sides[1] : "", plusIsSpace: true)
      else {
        throw .badRequest(
          "the query holds \(part), which is not percent-encoded UTF-8: a percent sign must be followed by two hexadecimal digits",
          field: "query")
      }
      parameters.append(Parameter(name: name, value: value))
    }
    self.parameters = parameters
  }

  /// A reader that hands the parameters out one by one.
  public func reader() -> QueryReader { QueryReader(self) }
}
