import Primitives

/// `; did you mean "provider"?`, or the known names when none is near.
func hint(for name: String, among known: [String]) -> String {
  if let nearest = nearestName(to: name, among: known) { return "; did you mean \"\(nearest)\"?" }
  return known.isEmpty ? "" : "; known are \(listed(known))"
}

/// `"a", "b" or "c"`.
func listed(_ names: [String]) -> String {
  let quoted = names.map { "\"\($0)\"" }
  guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "nothing" }
  return quoted.dropLast().joined(separator: ", ") + " or " + last
}
