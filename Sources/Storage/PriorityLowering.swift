import Delivery
public import Primitives
public import Push

/// Why a push of priority 10 went at 5: what its budget had, and when that can pay for one again.
public struct PriorityLowering: Hashable, Sendable {
  /// How many pushes of priority 10 a window may have.
  public var allowance: Int
  /// How many of them at once, which are spent.
  public var burst: Int
  /// The window.
  public var window: TimeSpan
  /// When the next of priority 10 can be paid for, by what has been charged since; nil where it could be at once.
  public var nextCredit: Instant?

  /// What a person is told, without a period at its end.
  public var sentence: String {
    let span =
      switch window {
      case .seconds(3600): "an hour"
      case .seconds(86_400): "a day"
      default: "in \(window.seconds.formatted) s"
      }
    let what =
      burst < allowance
      ? "the \(burst) of priority 10 that may go at once are spent, of \(allowance) \(span)"
      : "the \(allowance) of priority 10 \(span) are spent"
    guard let nextCredit else { return what }
    let text = nextCredit.roundedUp(to: .seconds(1)).description
    let clock = text.split(separator: "T").last.map { String($0.prefix(8)) } ?? text
    return "\(what), the next is back at \(clock.hasSuffix(":00") ? String(clock.prefix(5)) : clock) UTC"
  }
}

/// A push that went at priority 5 in place of its own, for those who watch.
public struct LoweredPush: Sendable {
  /// The push's id.
  public let id: PushID
  /// Where it goes.
  public let token: DeviceToken
  /// The push type.
  public let type: PushType
  /// Why.
  public let lowering: PriorityLowering
}

extension StoreState {
  /// Why a push to that token went at priority 5 at `instant`; nil for a token whose budget lowers none.
  func lowering(_ number: UInt32, at instant: Instant) -> PriorityLowering? {
    guard tokens[number].pointee.isActive, let budget = nominalBudget(number), budget.unpaid == .goesAtFive else { return nil }
    let parameters = routes[tokens[number].pointee.route].pointee.parameters[budget.ordinal]
    let own = ownTerms(number)?.parameters(parameters) ?? parameters
    let budgets = Span(_unsafeElements: UnsafeBufferPointer(tokens.budgets(number)))
    let payable = budgets.survey(rule(budget, number), at: instant).payableAt
    return PriorityLowering(
      allowance: Int(own.allowance), burst: Int(own.burst), window: own.window, nextCredit: payable > instant ? payable : nil)
  }

  /// Tells those who watch of a push that goes at priority 5.
  func tellLowered(_ slot: UInt32, _ batch: Batch, at now: Instant) {
    let push = pushes[slot]
    guard let lowering = lowering(push.pointee.token, at: now) else { return }
    batch.lowered.append(
      LoweredPush(id: push.pointee.id, token: tokens.token(push.pointee.token), type: push.pointee.type, lowering: lowering))
  }
}

extension Double {
  /// Without a fraction where there is none.
  fileprivate var formatted: String { self == rounded(.down) ? "\(Int(self))" : "\(self)" }
}
