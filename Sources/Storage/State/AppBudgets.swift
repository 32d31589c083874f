import Delivery
import Primitives
import Push

/// The numbers of an app's budgets, as the saved states of its tokens mean them.
struct AppBudgets: Hashable {
  /// By the order of `BudgetKind.allCases`.
  private var parameters: [BudgetParameters]

  /// Those of an app.
  init(_ policy: AppPolicy) { parameters = BudgetKind.allCases.map { policy[$0] } }

  /// The numbers of one budget.
  subscript(budget: BudgetKind) -> BudgetParameters { parameters[budget.ordinal] }
}

extension AppBudgets {
  /// As they are saved: four numbers for each budget, little-endian.
  var bytes: [UInt8] {
    let numbers = parameters.flatMap { [$0.allowance, $0.burst, $0.window.nanoseconds, $0.minimumInterval.nanoseconds] }
    return numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
  }

  /// Reads what `bytes` gave; a budget that was not known then has the numbers of `policy`.
  init(_ bytes: UnsafeRawBufferPointer, _ policy: AppPolicy) throws(ByteReader.Malformed) {
    self.init(policy)
    var reader = ByteReader(bytes)
    for index in parameters.indices where !reader.isAtEnd {
      parameters[index].allowance = try reader.read()
      parameters[index].burst = try reader.read()
      parameters[index].window = TimeSpan(nanoseconds: try reader.read())
      parameters[index].minimumInterval = TimeSpan(nanoseconds: try reader.read())
    }
  }
}

/// What the budgets of all apps mean, and which of that the engine does not know yet.
struct BudgetMeanings {
  private var apps: [String: AppBudgets] = [:]
  private var unsaved: Set<String> = []

  var hasUnsaved: Bool { !unsaved.isEmpty }
  /// What the next commit saves.
  var changes: [(bundleID: String, budgets: [UInt8])] { unsaved.sorted().compactMap { id in apps[id].map { (id, $0.bytes) } } }
  mutating func markSaved() { unsaved.removeAll() }

  subscript(bundleID: String) -> AppBudgets? { apps[bundleID] }

  /// Notes what the engine says that the budgets of an app mean.
  mutating func load(_ budgets: AppBudgets, of bundleID: String) { apps[bundleID] = budgets }

  /// Notes what the budgets of an app mean from now on.
  mutating func set(_ budgets: AppBudgets, of bundleID: String) {
    guard apps[bundleID] != budgets else { return }
    apps[bundleID] = budgets
    unsaved.insert(bundleID)
  }
}

extension StoreState {
  /// Gives the budgets that were saved under other numbers than the present ones, as a restart may bring, the meaning of these.
  mutating func convertSavedBudgets(at now: Instant) {
    let changed = routes.settleBudgets()
    guard !changed.isEmpty else { return }
    for number in 0..<tokens.end where tokens[number].pointee.isActive {
      guard tokens.budgets(number).contains(where: { $0 != .full }), let budget = nominalBudget(number),
        let before = changed[routes.bundleID(tokens[number].pointee.route)]
      else { continue }
      guard convertBudgets(number, from: rule(of: before[budget], number), to: rule(budget, number), at: now) else { continue }
      change(number)
      if tokens[number].pointee.laneHead != none { scheduleWake(number, at: now) }
    }
  }

  /// The rule of a token where these are the app's numbers.
  private func rule(of app: BudgetParameters, _ number: UInt32) -> BudgetRule {
    let rule = BudgetRule(ownTerms(number)?.parameters(app) ?? app)
    let own = tokens[number].pointee.minimumIntervalMilliseconds
    return own == none ? rule : rule.with(minimumInterval: .milliseconds(Int64(own)))
  }
}
