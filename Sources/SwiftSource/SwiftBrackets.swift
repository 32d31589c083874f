/// Whether brackets close as they open: a type that is cut off, or closed too early, would be read as one of fewer properties.
enum SwiftBrackets {
  private static let openings = [")": "(", "]": "[", "}": "{"]

  /// The first bracket that closes another than the last open one, or the last that stays open; nil where all is in order.
  static func problem(in tokens: [SwiftToken]) -> SourceProblem? {
    var open: [(mark: String, place: SourcePlace)] = []
    for token in tokens {
      guard case .mark(let mark) = token.kind else { continue }
      if ["(", "[", "{"].contains(mark) { open.append((mark, token.place)) }
      guard let opening = openings[mark] else { continue }
      guard let last = open.popLast() else {
        return SourceProblem(
          place: token.place, message: "\(mark) closes nothing: it is one too many, or a \(opening) before it is missing")
      }
      guard last.mark == opening else {
        return SourceProblem(
          place: token.place, message: "\(mark) stands where the \(last.mark) of \(last.place) is still open; close that first")
      }
    }
    guard let last = open.last else { return nil }
    let others = open.count == 1 ? "" : ", and \(open.count - 1) more around it"
    return SourceProblem(place: last.place, message: "the \(last.mark) that stands here is not closed\(others); is the file cut off?")
  }
}
