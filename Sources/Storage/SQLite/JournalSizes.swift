/// The numbers and sizes of the journal's rows, the oldest first, so that trimming knows how far it gets with a slice.
struct JournalSizes {
  private var rows: ContiguousArray<(number: UInt64, bytes: Int)> = []
  private var head = 0

  /// No rows yet; there is room for as many as come before the first are folded, unless commits are tiny.
  init() { rows.reserveCapacity(1 << 16) }

  /// Bytes of all rows.
  private(set) var bytes = 0

  /// The oldest row's number.
  var first: UInt64? { head < rows.count ? rows[head].number : nil }

  /// Adds a row.
  mutating func append(_ number: UInt64, _ size: Int) {
    // A row's own cost counts as well, so that many small ones are folded too.
    rows.append((number, size + 64))
    bytes += size + 64
  }

  /// The oldest rows up to `number`, at least one and at most about `bytesMax` bytes of them.
  func slice(through number: UInt64, bytesMax: Int) -> (count: Int, last: UInt64?) {
    var count = 0
    var size = 0
    while head + count < rows.count, rows[head + count].number <= number, count == 0 || size < bytesMax {
      size += rows[head + count].bytes
      count += 1
    }
    return (count, count == 0 ? nil : rows[head + count - 1].number)
  }

  /// Removes the oldest rows.
  mutating func removeFirst(_ count: Int) {
    for row in rows[head..<head + count] { bytes -= row.bytes }
    head += count
    if head > 1024, head > rows.count / 2 {
      rows.removeFirst(head)
      head = 0
    }
  }
}
