/// Trivial values at stable addresses, numbered from 0, in pages of 4096 that come as they are needed.
///
/// A number may be given back and is then the next to be used again. `Slab` of Primitives is of one fixed size and has
/// generations; this one grows to a million tokens without copying, and its numbers are kept on disk.
struct PagedSlab<Element>: ~Copyable {
  private static var pageShift: UInt32 { 12 }
  private let pages: UnsafeMutablePointer<UnsafeMutablePointer<Element>?>
  private let pagesMax: Int
  /// How many values each page has.
  private let used: UnsafeMutablePointer<Int32>
  private var free: ContiguousArray<UInt32> = []
  /// One more than the highest number in use so far.
  private(set) var end: UInt32 = 0

  /// An empty slab for at most about `capacity` values.
  init(capacity: Int) {
    pagesMax = (capacity >> Int(Self.pageShift)) + 1
    pages = .allocate(capacity: pagesMax)
    pages.initialize(repeating: nil, count: pagesMax)
    used = .allocate(capacity: pagesMax)
    used.initialize(repeating: 0, count: pagesMax)
  }

  deinit {
    for page in 0..<pagesMax { pages[page]?.deallocate() }
    pages.deallocate()
    used.deallocate()
  }

  /// How many values there are.
  var count: Int { Int(end) - free.count }

  /// The address of a value, the same for as long as it is there.
  subscript(number: UInt32) -> UnsafeMutablePointer<Element> {
    pages[Int(number >> Self.pageShift)]! + Int(number & (1 << Self.pageShift - 1))
  }

  /// The addresses of values by number, below `end` at this moment.
  var addressing: (UInt32) -> UnsafeMutablePointer<Element> {
    let pages = pages
    return { pages[Int($0 >> Self.pageShift)]! + Int($0 & (1 << Self.pageShift - 1)) }
  }

  /// A number with `element` under it; nil when the slab is full.
  mutating func insert(_ element: Element) -> UInt32? {
    if let number = free.popLast() {
      self[number].initialize(to: element)
      used[Int(number >> Self.pageShift)] += 1
      return number
    }
    guard reserve(through: end) else { return nil }
    self[end].initialize(to: element)
    used[Int(end >> Self.pageShift)] += 1
    end += 1
    return end - 1
  }

  /// Gives a number back.
  mutating func remove(_ number: UInt32) {
    free.append(number)
    used[Int(number >> Self.pageShift)] -= 1
  }

  /// Bytes of the pages behind the last value, the first page excepted.
  var spareBytes: Int { (sparePages.count << Int(Self.pageShift)) * MemoryLayout<Element>.stride }

  /// Gives those pages back; their numbers are as if they had never been used. O(numbers that are free).
  mutating func releaseSpare() {
    let spare = sparePages
    guard !spare.isEmpty else { return }
    for page in spare {
      pages[page]?.deallocate()
      pages[page] = nil
    }
    end = UInt32(spare.lowerBound << Int(Self.pageShift))
    free = ContiguousArray(free.filter { [end] in $0 < end })
    free.reserveCapacity(1 << Int(Self.pageShift))
  }

  private var sparePages: Range<Int> {
    let behind = (Int(end) + (1 << Int(Self.pageShift)) - 1) >> Int(Self.pageShift)
    var first = behind
    while first > 1, used[first - 1] == 0 { first -= 1 }
    return first..<max(first, behind)
  }

  /// Makes every number up to `number` valid, without a meaning yet; for loading. False when the slab is too small.
  mutating func extend(through number: UInt32, filler: Element) -> Bool {
    while end <= number {
      guard reserve(through: end) else { return false }
      self[end].initialize(to: filler)
      used[Int(end >> Self.pageShift)] += 1
      end += 1
    }
    return true
  }

  /// Declares which of the numbers are not in use; for loading. The lowest are used first.
  mutating func setFree(where isFree: (Element) -> Bool) {
    free.removeAll()
    used.update(repeating: 0, count: pagesMax)
    for number in (0..<end).reversed() {
      if isFree(self[number].pointee) { free.append(number) } else { used[Int(number >> Self.pageShift)] += 1 }
    }
  }

  private mutating func reserve(through number: UInt32) -> Bool {
    let page = Int(number >> Self.pageShift)
    guard page < pagesMax else { return false }
    if pages[page] == nil {
      pages[page] = .allocate(capacity: 1 << Int(Self.pageShift))
      // At least the first page's numbers can be given back without allocating.
      if page == 0 { free.reserveCapacity(1 << Int(Self.pageShift)) }
    }
    return true
  }
}
