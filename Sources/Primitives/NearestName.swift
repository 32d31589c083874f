/// The entry of `known` that is most like `name`, for errors of the form "unknown field; did you mean …".
///
/// Likeness is the Levenshtein distance without regard to case. When nothing is within half the name's length, a name that was
/// cut short (at least three letters of it) still finds the shortest whole one; else nil.
///
/// - Parameter distanceMax: The greatest distance in place of half the name's length; then one that was cut short finds nothing further.
public func nearestName(to name: String, among known: [String], distanceMax: Int? = nil) -> String? {
  let wanted = Array(name.lowercased().utf8)
  guard wanted.count <= 128 else { return nil }
  var best: (name: String, distance: Int)?
  for candidate in known {
    let distance = editDistance(wanted, Array(candidate.lowercased().utf8))
    if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
  }
  if let best, best.distance <= distanceMax ?? max(2, wanted.count / 2) { return best.name }
  guard distanceMax == nil, wanted.count >= 3 else { return nil }
  return known.filter { $0.lowercased().utf8.starts(with: wanted) }.min { $0.utf8.count < $1.utf8.count }
}

/// The entry of `known` that is most like `name`, where it takes no more than `distanceMax` edits to make one of the other.
public func nearestName(to name: String, among known: [String], within distanceMax: Int) -> String? {
  let wanted = Array(name.lowercased().utf8)
  guard wanted.count <= 128 else { return nil }
  let distances = known.map { (name: $0, distance: editDistance(wanted, Array($0.lowercased().utf8))) }
  return distances.filter { $0.distance <= distanceMax }.min { $0.distance < $1.distance }?.name
}

/// The Levenshtein distance, one row at a time: O(a · b) time, O(b) space.
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  var row = Array(0...b.count)
  for i in 0..<a.count {
    var diagonal = row[0]
    row[0] = i + 1
    for j in 0..<b.count {
      let substituted = diagonal + (a[i] == b[j] ? 0 : 1)
      diagonal = row[j + 1]
      row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
    }
  }
  return row[b.count]
}
