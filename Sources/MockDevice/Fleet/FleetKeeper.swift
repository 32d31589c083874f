import DeviceModel
import Primitives
import Push
import Reactor
import Rules

/// The fleet on its loop: carries out its effects, watches the clock for it, and answers those who wait for something to happen.
///
/// Belongs to its loop; pushes use `fleet` at once, everybody else comes through a `FleetDoor`.
final class FleetKeeper {
  /// One who waits until a look at the fleet satisfies it.
  struct Waiter {
    let id: UInt64
    let deadline: Uptime
    /// Answers and returns true when there is nothing more to wait for.
    let look: (DeviceFleet) -> Bool
    /// Answers at the deadline.
    let giveUp: () -> Void
  }

  /// The devices.
  var fleet: DeviceFleet

  /// Takes the effects of a round, in order.
  var carryOut: ([DeviceEffect]) -> Void = { _ in }
  /// Sees the fleet at the end of every round in which something happened, at the machine's time.
  var observe: (DeviceFleet, Instant) -> Void = { _, _ in }
  /// Asks the gateway, whose answer `learn` takes then; false when it cannot be asked. Nil where there is no gateway.
  var ask: ((Registrar.Question) -> Bool)?
  /// Pushes that wait for what their tokens were registered as.
  let held: HeldPushes<DeviceToken>
  /// Pushes that wait for the schemas of their apps.
  private let schemas: SchemaQuestions
  /// How many such questions there may be.
  private var questions = QuestionAllowance()
  /// The clock by which senders write the dates of payloads.
  var senders = TimeScale.real
  private unowned let loop: EventLoop
  private var waiters: [Waiter] = []
  private var seenEvent: UInt64 = 0
  /// Whether the gateway has answered something in this round, for which there need not be an event.
  private var hasAnswer = false
  /// Due when an activity may have changed by itself.
  private var activityTimer: Timer?
  /// Due when the first waiter gives up.
  private var waiterTimer: Timer?

  /// The longest sleep while an activity runs: the product's clock may be moved forward meanwhile.
  private static let longestSleep = TimeSpan.seconds(1)

  /// - Parameter hold: How long a push is held at most.
  init(_ fleet: DeviceFleet, on loop: EventLoop, hold: TimeSpan = .milliseconds(Limits.heldPushMilliseconds)) {
    self.fleet = fleet
    self.loop = loop
    held = HeldPushes(on: loop, atMost: hold)
    schemas = SchemaQuestions(on: loop, atMost: hold)
    activityTimer = loop.makeTimer { [unowned self] in self.wakeActivities() }
    waiterTimer = loop.makeTimer { [unowned self] in
      let now = self.loop.uptime
      self.dismissWaiters { $0.deadline <= now }
    }
    held.lapsed = { [unowned self] span in
      self.questions.pause(at: self.loop.uptime)
      self.fallSilent(after: span)
    }
    schemas.lapsed = { [unowned self] span in self.fallSilent(after: span) }
    loop.atEveryRoundEnd { [unowned self] in self.endRound() }
  }

  /// The product's time in this round.
  var now: Instant { loop.now }

  /// The times by which a request of this round is judged; the fleet goes by them, too.
  func takeTime() -> RequestTime {
    let time = RequestTime.upstream(loop.moment, senders: senders)
    fleet.shift = time.shift
    return time
  }

  /// Records what became of a registration.
  func note(_ report: Registrar.Report) {
    hasAnswer = true
    if case .teach(_, let bundleID, let schemas) = report.effect {
      switch report.verdict {
      case .settled: fleet.noteTeaching(bundleID: bundleID, schemas, refusal: nil, at: now)
      case .givenUp(let reason): fleet.noteTeaching(bundleID: bundleID, schemas, refusal: reason, at: now)
      case .superseded, .again: break
      }
      return
    }
    if case .fetchMessage(let token, _, let channel, _) = report.effect {
      if case .again = report.verdict { return }
      fleet.noteChannel(report.channel, of: token, at: now)
      if let message = report.message {
        _ = takeTime()
        unsafe fleet.receiveStoredMessage(message.id, for: token, payload: message.payload.span.bytes, at: now)
      } else if case .givenUp(let reason) = report.verdict {
        fleet.note(.registrationFailed, token: token, push: nil, detail: "the channel \(channel) cannot be asked for: \(reason)", at: now)
      }
      return
    }
    switch report.verdict {
    case .superseded: break
    case .settled(let state): fleet.noteRegistration(report.effect, state, detail: nil, at: now)
    case .givenUp(let reason): fleet.noteRegistration(report.effect, .refused, detail: reason, at: now)
    case .again(let reason, let isFirst):
      if isFirst { fleet.noteRegistration(report.effect, .pending, detail: "\(reason); it is tried again until it succeeds", at: now) }
    }
  }

  /// Whether the gateway is to be asked about the token before a push of that type is given to the devices.
  func asksFirst(about known: DeviceFleet.KnownToken?, _ type: PushType) -> Bool {
    guard fleet.isWorthAsking(about: known), held.hasRoom else { return false }
    // What a first push to a control or an activity does hangs on the answer.
    return questions.take(at: loop.uptime, isNeeded: known == nil && (type == .liveactivity || type == .controls))
  }

  /// Holds a push until the gateway has been asked about its token.
  func hold(_ token: DeviceToken, _ resume: @escaping () -> Void) {
    guard held.hold(token, resume), !isAsked(.registration(token)) else { return }
    held.release(token)
  }

  /// Whether the gateway is to be asked for the schemas of the app before a push to one of its activities is judged.
  func asksForSchemas(of bundleID: String) -> Bool { ask != nil && schemas.asks(about: bundleID) }

  /// Holds a push until the gateway has told the schemas of its app.
  func hold(schemasOf bundleID: String, _ resume: @escaping () -> Void) {
    schemas.hold(bundleID, resume) { [unowned self] in isAsked(.schemas(bundleID: $0)) }
  }

  /// Takes what the gateway says; the pushes that were held for it go on.
  func learn(_ answered: Registrar.Answered) {
    switch answered {
    case .registration(let token, let answer): learn(token, answer)
    case .schemas(let bundleID, .known(let known)):
      fleet.learn(known, of: bundleID)
      note(silence: nil)
      schemas.settle(bundleID, silence: nil) { [unowned self] in isAsked(.schemas(bundleID: $0)) }
    case .schemas(let bundleID, .silence(let silence)):
      note(silence: silence.why)
      schemas.settle(bundleID, silence: silence) { _ in false }
    }
  }

  /// Takes why the gateway cannot be asked, or does not tell; nil when it does, and may be asked at once.
  func note(silence: String?) {
    fleet.gatewaySilence = silence
    guard silence == nil else { return }
    questions.resume()
    schemas.resume()
  }

  private func fallSilent(after span: TimeSpan) {
    fleet.gatewaySilence = "the gateway did not answer within \(span.nanoseconds / 1_000_000) ms"
  }

  private func isAsked(_ question: Registrar.Question) -> Bool {
    guard let ask else { return false }
    if ask(question) { return true }
    fleet.gatewaySilence = "too many questions to the gateway wait already"
    return false
  }

  private func learn(_ token: DeviceToken, _ answer: Registrar.Answer) {
    switch answer {
    case .registered(let registration):
      fleet.learn(registration, at: now)
      note(silence: nil)
    case .notRegistered: note(silence: nil)
    case .silence(let silence):
      if silence.costsTime { questions.pause(at: loop.uptime) }
      note(silence: silence.why)
    }
    held.release(token)
  }

  /// Answers whoever still waits: the loop has ended.
  func end() { dismissWaiters { _ in true } }

  /// How many wait.
  var waiterCount: Int { waiters.count }

  /// Adds a waiter unless it is satisfied already; false when there are as many as there may be.
  func wait(_ waiter: Waiter) -> Bool {
    if waiter.look(fleet) { return true }
    guard waiters.count < Limits.deviceWaiters else { return false }
    waiters.append(waiter)
    armWaiterTimer()
    return true
  }

  /// Answers a waiter before its time: its client went away, or the device is to stop.
  func dismiss(waiter id: UInt64) { dismissWaiters { $0.id == id } }

  /// What the round has changed goes out: effects, answers to waiters, the next deadline.
  private func endRound() {
    guard fleet.newestEvent != seenEvent || hasAnswer else { return }
    (seenEvent, hasAnswer) = (fleet.newestEvent, false)
    let effects = fleet.takeEffects()
    if !effects.isEmpty { carryOut(effects) }
    observe(fleet, loop.realNow)
    if !waiters.isEmpty { waiters.removeAll { $0.look(fleet) } }
    armActivityTimer()
  }

  private func armActivityTimer() {
    guard let due = fleet.nextDue, let activityTimer else { return }
    let delay = max(.zero, min(due - loop.now, Self.longestSleep))
    if !activityTimer.isArmed { activityTimer.arm(after: delay) }
  }

  private func wakeActivities() {
    fleet.advance(to: loop.now)
    armActivityTimer()
  }

  private func dismissWaiters(where condition: (Waiter) -> Bool) {
    waiters.removeAll { waiter in
      guard condition(waiter) else { return false }
      waiter.giveUp()
      return true
    }
    armWaiterTimer()
  }

  private func armWaiterTimer() {
    if let earliest = waiters.map(\.deadline).min() { waiterTimer?.arm(at: earliest) }
  }
}
