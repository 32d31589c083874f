/// A set of page numbers, taken out in order: one bit each.
struct DirtyPages {
  private var words: ContiguousArray<UInt64>
  private(set) var count = 0

  /// An empty set; it grows with the largest number.
  init(capacity: Int) { words = ContiguousArray(repeating: 0, count: capacity / 64 + 1) }

  /// Adds a number.
  mutating func insert(_ page: Int) {
    let (word, bit) = (page / 64, UInt64(1) << UInt64(page % 64))
    if word >= words.count { words.append(contentsOf: repeatElement(0, count: word - words.count + 1)) }
    if words[word] & bit == 0 {
      words[word] |= bit
      count += 1
    }
  }

  /// Takes a number out; whether it was there.
  mutating func remove(_ page: Int) -> Bool {
    let (word, bit) = (page / 64, UInt64(1) << UInt64(page % 64))
    guard word < words.count, words[word] & bit != 0 else { return false }
    words[word] &= ~bit
    count -= 1
    return true
  }

  /// Takes all out.
  mutating func removeAll() {
    for word in words.indices { words[word] = 0 }
    count = 0
  }

  /// Takes out the first number that is `page` or more; nil when there is none.
  mutating func pop(from page: Int) -> Int? {
    var word = page / 64
    guard word < words.count else { return nil }
    var bits = words[word] & (UInt64.max << UInt64(page % 64))
    while bits == 0 {
      word += 1
      guard word < words.count else { return nil }
      bits = words[word]
    }
    let bit = bits.trailingZeroBitCount
    words[word] &= ~(UInt64(1) << UInt64(bit))
    count -= 1
    return word * 64 + bit
  }
}
