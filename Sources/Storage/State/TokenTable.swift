import Delivery
import Glibc
import Primitives
import Push

/// The tokens by number and by their bytes.
struct TokenTable: ~Copyable {
  private var slots: PagedSlab<Token>
  private var tails: PagedSlab<TokenTail>
  private var index: HashIndex
  private let seed: UInt64
  /// How many registrations there are; removed ones, which the log still names, do not count.
  private(set) var activeCount = 0
  /// How many of them each route has, by its number; a route behind the last has none.
  private var countsByRoute: ContiguousArray<Int> = []

  /// An empty table for `capacity` tokens, found under a secret `seed`.
  init(capacity: Int, seed: UInt64) {
    slots = PagedSlab(capacity: capacity)
    tails = PagedSlab(capacity: capacity)
    index = HashIndex()
    self.seed = seed
  }

  deinit {
    for number in 0..<slots.end where slots[number].pointee.flags.contains(.used) { slots[number].pointee.moreBudgets?.deallocate() }
  }

  /// The address of a token, valid for as long as the token is there.
  subscript(number: UInt32) -> UnsafeMutablePointer<Token> { slots[number] }

  /// The addresses of tokens by number, below `end` at this moment; for loading.
  var addressing: (UInt32) -> UnsafeMutablePointer<Token> { slots.addressing }

  /// One more than the highest number in use.
  var end: UInt32 { slots.end }

  /// The number of a token, removed or not. O(1) expected.
  func find(_ token: DeviceToken) -> UInt32? { find(token, hash: hash(of: token)) }

  /// The number of a token whose hash is known. O(1) expected.
  func find(_ token: DeviceToken, hash: UInt64) -> UInt32? { index.find(hash) { isEqual($0, token) } }

  /// The seeded hash of a token.
  func hash(of token: DeviceToken) -> UInt64 { token.hash(seed: seed) }

  /// What the index holds where looking for that hash begins.
  func peek(_ hash: UInt64) -> UInt64 { index.peek(hash) }

  /// A new token; nil when the table is full. Its number is not in use for any other.
  mutating func insert(_ token: DeviceToken, kind: TokenKind, route: UInt32, registered: Instant) -> UInt32? {
    guard let number = slots.insert(value(token, kind: kind, route: route, registered: registered)) else { return nil }
    guard attachTail(number, token) else {
      slots.remove(number)
      return nil
    }
    index.insert(token.hash(seed: seed), number)
    count(1, of: route)
    return number
  }

  /// Puts a token under the number that it had when it was saved; false when the table is too small.
  mutating func restore(_ number: UInt32, _ token: DeviceToken, kind: TokenKind, route: UInt32, registered: Instant) -> Bool {
    guard slots.extend(through: number, filler: Self.unused) else { return false }
    let slot = slots[number]
    if slot.pointee.flags.contains(.used), isEqual(number, token) {
      if slot.pointee.isActive { count(-1, of: slot.pointee.route) }
      count(1, of: route)
      slot.pointee.flags = [.used]
      slot.pointee.kind = kind
      slot.pointee.route = route
      slot.pointee.registered = registered
      return true
    }
    if slot.pointee.flags.contains(.used) { remove(number) }
    slot.initialize(to: value(token, kind: kind, route: route, registered: registered))
    guard attachTail(number, token) else { return false }
    index.insert(token.hash(seed: seed), number)
    count(1, of: route)
    return true
  }

  /// Takes a registration out, but keeps its bytes under its number.
  mutating func markRemoved(_ number: UInt32) {
    guard slots[number].pointee.isActive else { return }
    slots[number].pointee.flags.insert(.removed)
    count(-1, of: slots[number].pointee.route)
  }

  /// Makes a removed token active again.
  mutating func revive(_ number: UInt32) {
    guard !slots[number].pointee.isActive else { return }
    slots[number].pointee.flags.remove(.removed)
    count(1, of: slots[number].pointee.route)
  }

  /// Has an active token go by another route.
  mutating func move(_ number: UInt32, to route: UInt32) {
    count(-1, of: slots[number].pointee.route)
    slots[number].pointee.route = route
    count(1, of: route)
  }

  /// How many registrations have that route.
  func count(ofRoute route: UInt32) -> Int { Int(route) < countsByRoute.count ? countsByRoute[Int(route)] : 0 }

  private mutating func count(_ change: Int, of route: UInt32) {
    if Int(route) >= countsByRoute.count {
      countsByRoute.append(contentsOf: repeatElement(0, count: Int(route) + 1 - countsByRoute.count))
    }
    countsByRoute[Int(route)] += change
    activeCount += change
  }

  /// Forgets a token; its number is free unless the table is being loaded.
  mutating func remove(_ number: UInt32, isLoading: Bool = true) {
    let slot = slots[number]
    if slot.pointee.isActive { count(-1, of: slot.pointee.route) }
    index.remove(token(number).hash(seed: seed), number)
    if slot.pointee.tail != none { tails.remove(slot.pointee.tail) }
    slot.pointee.moreBudgets?.deallocate()
    slot.initialize(to: Self.unused)
    if !isLoading { slots.remove(number) }
  }

  /// Ends loading: the numbers that hold nothing may be given out.
  mutating func finishLoading() { slots.setFree { !$0.flags.contains(.used) } }

  /// The token under a number.
  func token(_ number: UInt32) -> DeviceToken {
    withBytes(number) { bytes in
      guard let token = DeviceToken(bytes: RawSpan(_unsafeBytes: bytes)) else { preconditionFailure("a token without bytes") }
      return token
    }
  }

  /// The seeded hash of the token under a number.
  func hash(_ number: UInt32) -> UInt64 { token(number).hash(seed: seed) }

  /// Lends the bytes of the token under a number.
  func withBytes<R>(_ number: UInt32, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    let slot = slots[number]
    let count = Int(slot.pointee.byteCount)
    guard count > 32 else { return body(UnsafeRawBufferPointer(start: slot, count: count)) }
    return withUnsafeTemporaryAllocation(byteCount: DeviceToken.bytesMax, alignment: 8) { bytes in
      bytes.copyBytes(from: UnsafeRawBufferPointer(start: slot, count: 32))
      let tail = UnsafeRawBufferPointer(start: tails[slot.pointee.tail], count: count - 32)
      UnsafeMutableRawBufferPointer(rebasing: bytes[32...]).copyBytes(from: tail)
      return body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
  }

  /// Gives a token `count` budgets, all full.
  mutating func resetBudgets(_ number: UInt32, count: Int) {
    let slot = slots[number]
    slot.pointee.moreBudgets?.deallocate()
    slot.pointee.moreBudgets = nil
    slot.pointee.budget = .full
    slot.pointee.budgetCount = UInt8(count)
    guard count > 1 else { return }
    let budgets = UnsafeMutablePointer<BudgetState>.allocate(capacity: count)
    budgets.initialize(repeating: .full, count: count)
    slot.pointee.moreBudgets = budgets
  }

  /// The token's budgets, valid until their number changes.
  func budgets(_ number: UInt32) -> UnsafeMutableBufferPointer<BudgetState> {
    let slot = slots[number]
    if let budgets = slot.pointee.moreBudgets {
      return UnsafeMutableBufferPointer(start: budgets, count: Int(slot.pointee.budgetCount))
    }
    let offset = MemoryLayout<Token>.offset(of: \.budget)!
    let only = (UnsafeMutableRawPointer(slot) + offset).assumingMemoryBound(to: BudgetState.self)
    return UnsafeMutableBufferPointer(start: only, count: 1)
  }

  private static var unused: Token {
    var token = Token(head: InlineArray(repeating: 0), registered: .distantPast, route: none, byteCount: 0, kind: .app)
    token.flags = []
    return token
  }

  private func value(_ token: DeviceToken, kind: TokenKind, route: UInt32, registered: Instant) -> Token {
    var value = Token(
      head: InlineArray(repeating: 0), registered: registered, route: route, byteCount: UInt8(token.count), kind: kind)
    for index in 0..<min(token.count, 32) { value.head[index] = token[index] }
    return value
  }

  private mutating func attachTail(_ number: UInt32, _ token: DeviceToken) -> Bool {
    guard token.count > 32 else { return true }
    var tail = TokenTail(bytes: InlineArray(repeating: 0))
    for index in 32..<token.count { tail.bytes[index - 32] = token[index] }
    guard let place = tails.insert(tail) else { return false }
    slots[number].pointee.tail = place
    return true
  }

  private func isEqual(_ number: UInt32, _ token: DeviceToken) -> Bool {
    let slot = slots[number]
    let count = token.count
    guard Int(slot.pointee.byteCount) == count else { return false }
    // A token's bytes come first in its memory, in order (`DeviceToken`), as they do in the slot's and in the tail's.
    return withUnsafeBytes(of: token) { bytes in
      guard memcmp(slot, bytes.baseAddress!, min(count, 32)) == 0 else { return false }
      return count <= 32 || memcmp(tails[slot.pointee.tail], bytes.baseAddress! + 32, count - 32) == 0
    }
  }
}
