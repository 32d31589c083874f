/// Names in their order, found and added by bisection. O(log n) comparisons each; adding moves what is behind, 16 bytes a name.
struct SortedNames {
  private(set) var names: [String] = []

  /// Whether there is none.
  var isEmpty: Bool { names.isEmpty }

  /// The names behind `name`, in order; all of them where it is nil.
  func behind(_ name: String?) -> ArraySlice<String> {
    guard let name else { return names[...] }
    return names[Self.partition(names.count) { names[$0] <= name }...]
  }

  /// Adds a name that is not there.
  mutating func insert(_ name: String) { names.insert(name, at: Self.partition(names.count) { names[$0] < name }) }

  /// Removes a name, if it is there.
  mutating func remove(_ name: String) {
    let place = Self.partition(names.count) { names[$0] < name }
    if place < names.count, names[place] == name { names.remove(at: place) }
  }

  /// The first place of `count` that does not belong to the front; those that do come before all others.
  static func partition(_ count: Int, belongsToFront: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongsToFront(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
