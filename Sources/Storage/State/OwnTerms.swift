import Primitives
import Push

/// What few registrations ask for themselves: parameters of their budgets, and quiet hours.
struct OwnTerms: Hashable {
  var budget: Registration.Budget?
  var quietHours: QuietHours?

  /// What a registration asks for; nil when nothing.
  init?(_ registration: Registration) {
    guard registration.budget != nil || registration.quietHours != nil else { return nil }
    budget = registration.budget
    quietHours = registration.quietHours
  }

  /// The app's parameters with the token's own.
  func parameters(_ app: BudgetParameters) -> BudgetParameters { budget?.applied(to: app) ?? app }
}

extension OwnTerms {
  /// Appends them as they are saved.
  func write(to arena: ByteArena) {
    arena.append(budget?.allowance ?? 0)
    arena.append(budget?.burst ?? 0)
    arena.append(budget?.window?.nanoseconds ?? 0)
    arena.append(quietHours?.from ?? .max)
    arena.append(quietHours?.to ?? .max)
  }

  /// Reads what `write` wrote.
  init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
    func set(_ value: Int64) -> Int64? { value == 0 ? nil : value }
    let budget = Registration.Budget(
      allowance: set(try reader.read()), burst: set(try reader.read()), window: set(try reader.read()).map(TimeSpan.init(nanoseconds:)))
    self.budget = budget == Registration.Budget() ? nil : budget
    quietHours = QuietHours(from: try reader.read(), to: try reader.read())
  }
}
