public import Primitives
public import Push

/// One budget as the control side shows it.
public struct BudgetReport: Hashable, Sendable {
  /// Which of the app's budgets it is.
  public var kind: BudgetKind
  /// The widget that it belongs to; nil for a control, and for a registration that lists no widgets.
  public var widget: Registration.Widget?
  /// The most credits any window may spend.
  public var allowance: Int
  /// The most credits at once.
  public var burst: Int
  /// How long one credit takes to come back.
  public var interval: TimeSpan
  /// The least time between two charges.
  public var minimumInterval: TimeSpan
  /// Credits at present; negative when more was spent than there was.
  public var remaining: Int
  /// Whether this is the one that a push waits for.
  public var binds: Bool
  /// When the next push can be paid.
  public var payableAt: Instant
  /// When the next credit comes back; nil when it is full.
  public var nextCredit: Instant?
  /// The latest charge; nil when there was none.
  public var lastCharge: Instant?
}
