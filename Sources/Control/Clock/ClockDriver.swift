public import Primitives
public import Push
import Synchronization

/// Moves the product's clock, from one thing that becomes due to the next, so that all happens in the order in which it would have.
///
/// ```
/// advance by 1 h:   stop ─▶ what is due is done ─▶ to the next event ─▶ what is due is done ─▶ … ─▶ to the hour's end ─▶ run on
/// ```
///
/// While it moves, the clock stands: however long the work of an event takes, the next one is not late. One call moves it at a time.
/// Safe to use from any thread.
public final class ClockDriver: Sendable {
  /// How far to move.
  public enum Goal: Hashable, Sendable {
    /// By so much.
    case by(TimeSpan)
    /// To that instant.
    case to(Instant)
    /// To the next event.
    case next
  }

  /// The clock.
  public let clock: VirtualClock
  /// What may be done to it.
  public let settings: ClockSettings
  private let parts = Mutex<[any ClockPart]>([])
  private let keep: (@Sendable (VirtualTime) throws -> Void)?
  private let slack: TimeSpan
  private let turnstile = Turnstile(waitingMax: Limits.clockCalls, to: "move the clock")

  /// A driver of `clock`.
  ///
  /// - Parameters:
  ///   - slack: How far it may be set back all the same: a clock that follows another one has run on for as long as the call took.
  ///   - keep: Keeps how the product's time follows from the machine's over a restart; returns when that is safe.
  public init(
    _ clock: VirtualClock, _ settings: ClockSettings = ClockSettings(), slack: TimeSpan = .zero,
    keep: (@Sendable (VirtualTime) throws -> Void)? = nil
  ) {
    self.clock = clock
    self.settings = settings
    self.slack = slack
    self.keep = keep
  }

  /// A driver of the machine's clock, which nobody moves; `steady` is the steady one, where it is another.
  public convenience init(real: @escaping @Sendable () -> Instant, steady: (@Sendable () -> Instant)? = nil) {
    self.init(VirtualClock(real: real, steady: steady))
  }

  /// Has `part` go by the clock: it is asked in the order of adding.
  public func add(_ part: some ClockPart) { parts.withLock { $0.append(part) } }

  /// What the clock shows, and what comes next.
  public func report() async -> ClockReport {
    let standing = await standing(until: nil)
    return ClockReport(clock.moment, settings, standing)
  }

  /// Tells the parts what the clock shows: one may have been out of reach.
  public func announce() async {
    guard settings.permitted, !clock.setting.isReal else { return }
    _ = try? await turnstile.pass { () async throws(ControlError) in await tell() }
  }

  /// Stops the clock, or makes it run on from where it stands.
  public func setFrozen(_ isFrozen: Bool) async throws(ControlError) -> ClockReport {
    try checkPermission()
    return try await turnstile.pass { () async throws(ControlError) in
      if isFrozen { try await stop() } else { try await resume() }
      return await report()
    }
  }

  /// Moves the clock to the goal, through everything that becomes due on the way; then it runs or stands as before, or as `isFrozen` says.
  ///
  /// Answers when all that became due is done, or after `Limits.clockMilliseconds`: the clock is at the goal then, too, and the report says
  /// what is left.
  public func move(_ goal: Goal, thenFrozen isFrozen: Bool? = nil) async throws(ControlError) -> ClockReport {
    try checkPermission()
    return try await turnstile.pass { () async throws(ControlError) in try await carryOut(goal, thenFrozen: isFrozen) }
  }

  private func carryOut(_ goal: Goal, thenFrozen isFrozen: Bool?) async throws(ControlError) -> ClockReport {
    let before = clock.setting
    let runs = isFrozen.map { !$0 } ?? (before.frozenAt == nil)
    let deadline = clock.steady + .milliseconds(Limits.clockMilliseconds)
    let start = clock.change { time, real in
      time.freeze(at: real)
      return time.now(at: real)
    }
    await tell()
    var standing = await standing(until: deadline)
    let target: Instant
    do throws(ControlError) {
      target = try self.target(goal, start, standing)
      // Before anything moves: a restart in the midst of it finds a time that nothing is ahead of.
      try save(runs ? VirtualTime(lead: target - clock.real) : VirtualTime(frozenAt: target))
    } catch {
      clock.change { time, _ in time = before }
      await tell()
      throw error
    }

    if target < start {
      clock.change { $0.set(to: target, at: $1) }
      await tell()
    }
    var (now, steps) = (start, 0)
    while let next = standing.next, next.at <= target, next.at > now, clock.steady < deadline {
      now = next.at
      steps += 1
      standing = await step(to: now, deadline)
    }
    if now < target { standing = await step(to: target, deadline) }
    if runs { await runOn() }
    return ClockReport(clock.moment, settings, standing, moved: (target - start, steps))
  }

  /// The instant of the goal, if the clock may be moved there.
  private func target(_ goal: Goal, _ start: Instant, _ standing: ClockStanding) throws(ControlError) -> Instant {
    let target: Instant =
      switch goal {
      case .by(let span): start + span
      case .to(let instant): instant
      case .next: max(start, standing.next?.at ?? start)
      }
    guard target >= start - slack else {
      throw .conflict(
        "the clock shows \(start) and does not go back, since budgets and waiting pushes have been decided by it; start afresh with another state folder"
      )
    }
    guard target - clock.real <= .seconds(Limits.clockAheadDays * 86_400) else {
      throw .badRequest("the clock may be moved at most \(Limits.clockAheadDays) days ahead of the machine's")
    }
    return target
  }

  private func step(to instant: Instant, _ deadline: Instant) async -> ClockStanding {
    _ = clock.change { $0.move(to: instant, at: $1) }
    await tell()
    return await standing(until: deadline)
  }

  /// Stops the clock; where that cannot be kept it has run all the while.
  private func stop() async throws(ControlError) {
    let before = clock.setting
    let after = clock.change { time, real in
      time.freeze(at: real)
      return time
    }
    do throws(ControlError) { try save(after) } catch {
      clock.change { time, _ in time = before }
      throw error
    }
    await tell()
  }

  /// Makes the clock run on, once that is kept: one that ran before would have to go back where it cannot be.
  private func resume() async throws(ControlError) {
    var time = clock.setting
    time.run(at: clock.real)
    try save(time)
    await runOn()
  }

  /// Makes the clock run on from where it stands, as has been kept: it is behind what was kept by no more than the call took, and that a
  /// restart finds it ahead by so much harms nothing.
  private func runOn() async {
    let time = clock.change { time, real in
      time.run(at: real)
      return time
    }
    try? keep?(time)
    await tell()
  }

  private func save(_ time: VirtualTime) throws(ControlError) {
    do { try keep?(time) } catch {
      throw .unavailable("the clock's setting cannot be kept: \(error)")
    }
  }

  private func checkPermission() throws(ControlError) {
    guard settings.permitted else {
      throw ControlError(
        status: 403, code: "clockNotPermitted", message: "the clock may be moved only where the configuration has clock.permitted: true")
    }
  }

  private func tell() async {
    let (all, setting) = (parts.withLock { $0 }, clock.setting)
    for part in all { await part.clockChanged(to: setting, at: clock.real) }
  }

  /// Of all parts: what one does may leave another something to do, so they are asked until nothing has changed since they were last.
  private func standing(until: Instant?) async -> ClockStanding {
    let all = parts.withLock { $0 }
    var seen: UInt64?
    while true {
      var whole = ClockStanding()
      for part in all { whole.add(await part.standing(of: clock.setting, until: until) { [clock] in clock.steady }) }
      guard let until, whole.isSettled, whole.changes != seen, clock.steady < until else { return whole }
      seen = whole.changes
    }
  }
}
