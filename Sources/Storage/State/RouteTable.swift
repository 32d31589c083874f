import Delivery
import Primitives
import Push

/// What registrations have in common: app, environment, and the upstream that one of them may name.
struct RouteName: Hashable, Sendable {
  var bundleID: String
  var environment: PushEnvironment
  var upstream: String?
}

/// What a route means under the present configuration, as plain values.
struct Route {
  /// The bundle id's bytes, valid for as long as the table.
  var bundleID: UnsafeRawBufferPointer
  var environment: PushEnvironment
  var upstream: UInt16
  /// Which of the gateway's own keys signs for the app.
  var signers: PushSigners
  /// By the order of `BudgetKind.allCases`.
  var rules: InlineArray<6, BudgetRule>
  /// What the rules come from, for tokens that replace some of it.
  var parameters: InlineArray<6, BudgetParameters>
  var coalesce: TimeSpan
  /// See `AppPolicy.batch`.
  var batch: TimeSpan
  var mode: AppPolicy.BudgetMode
  var validation: AppPolicy.Validation
  var expirationZero: AppPolicy.ExpirationZero
}

extension Route {
  /// The rule of one of the app's budgets.
  func rule(_ budget: BudgetKind) -> BudgetRule { rules[budget.ordinal] }
}

/// Works out what a route means: the app's rules and signers, and the number of the upstream.
struct RouteResolver: Sendable {
  var apps: AppDirectory
  var upstream: @Sendable (_ bundleID: String, _ environment: PushEnvironment, _ named: String?) -> UInt16
  var signers: @Sendable (_ bundleID: String, _ environment: PushEnvironment) -> PushSigners = { _, _ in PushSigners() }

  func policy(_ bundleID: String) -> AppPolicy { apps.index(of: bundleID).map { apps.policy(at: $0) } ?? AppPolicy() }
}

/// The routes by number; few, and never forgotten.
struct RouteTable: ~Copyable {
  private(set) var names: ContiguousArray<RouteName> = []
  private var routes = PagedSlab<Route>(capacity: RouteTable.capacity)
  private var numbers: [RouteName: UInt32] = [:]
  /// The routes of each app.
  private var numbersByApp: [String: [UInt32]] = [:]
  /// What the present configuration says.
  private(set) var resolver: RouteResolver
  /// What the budgets of the routes' apps mean.
  var budgets = BudgetMeanings()
  /// How many of the routes the engine knows.
  private(set) var savedCount = 0

  /// As many as there may be tokens, since each might be of an app of its own.
  private static let capacity = Limits.registrations

  init(resolver: RouteResolver) { self.resolver = resolver }

  deinit { for number in 0..<routes.end { routes[number].pointee.bundleID.deallocate() } }

  /// The address of the route of that number.
  subscript(number: UInt32) -> UnsafeMutablePointer<Route> { routes[number] }

  /// The bundle id of a route.
  func bundleID(_ number: UInt32) -> String { names[Int(number)].bundleID }

  /// The number of a route, new or not.
  mutating func number(of name: RouteName) -> UInt32 {
    if let number = numbers[name] { return number }
    guard let number = routes.insert(resolve(name, bundleID: Self.copy(name.bundleID))) else {
      preconditionFailure("more routes than tokens")
    }
    numbers[name] = number
    numbersByApp[name.bundleID, default: []].append(number)
    names.append(name)
    if budgets[name.bundleID] == nil { budgets.set(AppBudgets(policy(name.bundleID)), of: name.bundleID) }
    return number
  }

  /// The numbers of the routes of an app: as many as it has environments and upstreams.
  func numbers(of bundleID: String) -> [UInt32] { numbersByApp[bundleID] ?? [] }

  /// The rules for an app that may have no route yet.
  func policy(_ bundleID: String) -> AppPolicy { resolver.policy(bundleID) }

  /// The numbers of the upstreams of an app in an environment, each once: its own first, then those that registrations name. O(routes).
  func upstreams(of owner: ChannelOwner) -> [UInt16] {
    var upstreams = [resolver.upstream(owner.bundleID, owner.environment, nil)]
    for (number, name) in names.enumerated() where name.bundleID == owner.bundleID && name.environment == owner.environment {
      let upstream = routes[UInt32(number)].pointee.upstream
      if !upstreams.contains(upstream) { upstreams.append(upstream) }
    }
    return upstreams
  }

  /// The numbers of the upstreams of an app in whatever environment, as far as tokens are registered. O(routes).
  func upstreams(of bundleID: String) -> Set<UInt16> {
    var upstreams: Set<UInt16> = []
    for (number, name) in names.enumerated() where name.bundleID == bundleID { upstreams.insert(routes[UInt32(number)].pointee.upstream) }
    return upstreams
  }

  /// Notes that the engine knows all routes.
  mutating func markSaved() { savedCount = names.count }

  /// Works out every route anew, after the configuration has changed. O(routes).
  mutating func reconfigure(_ resolver: RouteResolver) {
    self.resolver = resolver
    for number in 0..<routes.end {
      routes[number].pointee = resolve(names[Int(number)], bundleID: routes[number].pointee.bundleID)
    }
    _ = settleBudgets()
  }

  /// Has the budgets of every app mean what the present configuration says.
  ///
  /// - Returns: What those meant that meant something else, by bundle id.
  mutating func settleBudgets() -> [String: AppBudgets] {
    var before: [String: AppBudgets] = [:]
    for bundleID in Set(names.map(\.bundleID)) {
      let present = AppBudgets(policy(bundleID))
      guard let old = budgets[bundleID], old != present else { continue }
      before[bundleID] = old
      budgets.set(present, of: bundleID)
    }
    return before
  }

  private func resolve(_ name: RouteName, bundleID: UnsafeRawBufferPointer) -> Route {
    let policy = resolver.policy(name.bundleID)
    return Route(
      bundleID: bundleID, environment: name.environment,
      upstream: resolver.upstream(name.bundleID, name.environment, name.upstream),
      signers: resolver.signers(name.bundleID, name.environment), rules: InlineArray { BudgetRule(policy[BudgetKind.allCases[$0]]) },
      parameters: InlineArray { policy[BudgetKind.allCases[$0]] },
      coalesce: policy.coalesce, batch: policy.batch, mode: policy.budgetMode, validation: policy.validation,
      expirationZero: policy.expirationZero)
  }

  private static func copy(_ text: String) -> UnsafeRawBufferPointer {
    let bytes = Array(text.utf8)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    copy.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(copy)
  }
}
