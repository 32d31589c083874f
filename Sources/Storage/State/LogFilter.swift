import Primitives
import Push

/// A query made ready for one walk over the log: it looks at plain values and builds no record.
struct LogFilter {
  let query: PushQuery
  /// The token's number; nil when the query names none, `none` when the store knows none of these bytes.
  private(set) var token: UInt32?
  /// The reload that is asked for and its app; nil when the query names none, or one that is forgotten.
  private var reload: (number: UInt32, bundleID: String)?
  /// For each route, whether the caller may see it, and whether it is the app that the query names.
  private var routes: [(isVisible: Bool, isNamed: Bool)]

  init(_ query: PushQuery, _ state: borrowing StoreState) {
    self.query = query
    routes = []
    refresh(state)
  }

  /// Takes over what the state knows by now of the names in the query. O(routes that are new).
  mutating func refresh(_ state: borrowing StoreState) {
    token = query.token.map { state.tokens.find($0) ?? none }
    let named = query.reload.flatMap { state.errands.reload($0) }
    reload = named.map { ($0.number, $0.1.request.selector.bundleID) }
    for number in routes.count..<state.routes.names.count {
      let bundleID = state.routes.names[number].bundleID
      routes.append((query.visibleBundleIDs?.contains(bundleID) ?? true, query.bundleID.map { $0 == bundleID } ?? true))
    }
  }

  /// The criteria that a push misses; nil when the caller may not see it, or asks for another id.
  func misses(_ place: LogPlace, _ state: borrowing StoreState) -> Misses? {
    switch place {
    case .accepted(let entry):
      if let id = query.id, id != entry.pointee.id { return nil }
      return misses(entry, state.log.last(of: entry).disposition, state)
    case .refused(let sequence):
      if state.refused[sequence].pointee.isForgotten { return nil }
      if let id = query.id, id != state.refused[sequence].pointee.id { return nil }
      return misses(state.refused[sequence], state)
    }
  }

  private func misses(
    _ entry: UnsafeMutablePointer<LogEntry>, _ disposition: Disposition, _ state: borrowing StoreState
  ) -> Misses? {
    let route = routes[Int(entry.pointee.route)]
    guard route.isVisible else { return nil }
    var misses: Misses = []
    if let token, token != entry.pointee.token { misses.insert(.token) }
    if !route.isNamed { misses.insert(.topic) }
    if let type = query.type, type != entry.pointee.type { misses.insert(.type) }
    if let wanted = query.disposition, wanted != disposition { misses.insert(.disposition) }
    if let wanted = query.cause, !(0..<Int(entry.pointee.stepCount)).contains(where: { state.log.step($0, of: entry).cause == wanted }) {
      misses.insert(.cause)
    }
    if query.reload != nil, !isReload(entry.pointee.id, state.routes.bundleID(entry.pointee.route), state) { misses.insert(.reload) }
    return misses
  }

  /// Whether a push of that app was made for the reload that is asked for.
  private func isReload(_ push: PushID, _ bundleID: @autoclosure () -> String, _ state: borrowing StoreState) -> Bool {
    guard let reload, state.errands.number(of: push) == reload.number else { return false }
    // Its id tells, which anybody may choose.
    return bundleID() == reload.bundleID
  }

  private func misses(_ entry: UnsafeMutablePointer<RefusedLog.Entry>, _ state: borrowing StoreState) -> Misses? {
    var misses: Misses = []
    if let type = query.type, type != entry.pointee.type { misses.insert(.type) }
    if let wanted = query.disposition, wanted != .refused { misses.insert(.disposition) }
    if let wanted = query.cause, wanted != entry.pointee.cause { misses.insert(.cause) }
    if let token = query.token, token != entry.pointee.token { misses.insert(.token) }
    if query.bundleID != nil || query.visibleBundleIDs != nil {
      let bundleID = entry.pointee.bundleID
      if let visible = query.visibleBundleIDs, !visible.contains(bundleID) { return nil }
      if let named = query.bundleID, named != bundleID { misses.insert(.topic) }
    }
    if query.reload != nil, !isReload(entry.pointee.id, entry.pointee.bundleID, state) { misses.insert(.reload) }
    return misses
  }

  /// Criteria of a query.
  struct Misses: OptionSet {
    var rawValue: UInt8
    static let token = Misses(rawValue: 1)
    static let topic = Misses(rawValue: 2)
    static let type = Misses(rawValue: 4)
    static let disposition = Misses(rawValue: 8)
    static let reload = Misses(rawValue: 16)
    static let cause = Misses(rawValue: 32)

    /// The name of the criterion, when it is exactly one.
    var onlyName: String? {
      switch self {
      case .token: "token"
      case .topic: "topic"
      case .type: "type"
      case .disposition: "disposition"
      case .reload: "reload"
      case .cause: "cause"
      default: nil
      }
    }
  }
}
