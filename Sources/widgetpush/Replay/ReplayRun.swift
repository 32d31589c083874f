import Gateway
import HTTPClient
import JSON
import Primitives
import Push
import Security

/// A recording on its way to a server: registrations, settings and pushes in their order, at their times.
///
/// It plays in apps, on devices and to tokens of its own: nothing of anybody else's is written. Apps and tokens are gone afterwards, and the
/// clock runs if it did. Its time, the push log, and the mock devices that got pushes tell of the replay.
struct ReplayRun {
  /// What is wanted.
  struct Options {
    var path: String
    var bundleID: String?
    var end: RecordingDigest.Limit?
    var pace: ReplayPace?
    var profile: BudgetProfile
    var usesRecordedSettings = true
    var mayMoveClock = true
  }

  private let options: Options
  private let control: ControlClient
  private let digest: RecordingDigest
  private let interruption: Interruption.Flag
  private let pace: ReplayPace
  private var clock: ReplayClock
  private var apps: ReplayApps
  private var sender: ReplaySender
  private var dates = SenderDates()
  private let tokens = ReplayTokens(seed: Hexadecimal.encode(SecureRandom.bytes(16)))
  private var registered: Set<String> = []
  private var sent: [(recorded: PushID, replayed: PushID?)] = []
  private var failures = 0
  /// Whether nothing was sent since the clock was last moved.
  private var isSettled = true
  /// When the replay began, by the server's clock and by the steady one.
  private var beginning = (product: Instant.distantPast, steady: Instant.distantPast)
  /// Registrations that the server did not take, and why.
  private(set) var refusals: [String] = []

  /// A replay of the recording to the server of `folder`; throws what is wrong with either.
  init(_ options: Options, _ folder: StateFolder, _ interruption: Interruption.Flag) throws {
    self.options = options
    self.interruption = interruption
    digest = try RecordingDigest(options.path, bundleID: options.bundleID, to: options.end)
    control = try ControlClient(folder, isForPeople: false)
    clock = try ReplayClock(control, mayMove: options.mayMoveClock)
    pace = options.pace ?? (clock.moves ? .unpaced : .times(1))
    apps = try ReplayApps(control, options.profile, digest.bundleIDs)
    sender = try ReplaySender(folder, now: clock.senders, isFresh: clock.isSendersOwn)
  }

  /// Whether the server's clock goes along with the recording.
  var movesClock: Bool { clock.moves }
  /// Whether all is done at once, budgets that need time or not.
  var isUnpaced: Bool { pace == .unpaced }
  /// What is missing in the recording.
  var gaps: [String] { digest.gaps }
  /// How often the server has not done in time what was due.
  var incomplete: Int { clock.incomplete }
  /// Whether somebody has ended it early.
  var isInterrupted: Bool { interruption.isSet }
  /// How long it took.
  var duration: TimeSpan { Machine.steady - beginning.steady }

  /// Plays it, and tells what became of the pushes.
  mutating func run() throws -> ReplayReport {
    var progress = Progress("pushes")
    let result = Result { () throws -> ReplayReport in
      beginning = (try clock.begin(like: digest.start, atTimeOfDay: digest.hasQuietHours), Machine.steady)
      for bundleID in digest.bundleIDs { try apps.apply(bundleID) }
      try play(&progress)
      return try report()
    }
    progress.end()
    for problem in restore() { Console.complain("widgetpush replay: this could not be removed: \(problem)") }
    return try result.get()
  }

  private mutating func play(_ progress: inout Progress) throws {
    var reader = try RecordingReader(options.path)
    while let line = try reader.read(), line.at <= digest.end {
      guard line.content.asksForSomething else { continue }
      guard try reach(line.at) else { return }
      switch line.content {
      case .push(let push):
        guard options.bundleID == nil || push.bundleID == options.bundleID else { continue }
        try send(push)
        progress.show(sent.count, of: digest.pushes)
      case .registration(let registration):
        guard options.bundleID == nil || registration["bundleID"]?.stringValue == options.bundleID else { continue }
        try register(registration)
      case .unregistered(let token): try unregister(tokens.token(for: token))
      case .app(let bundleID, let settings):
        if options.usesRecordedSettings, digest.bundleIDs.contains(bundleID) { try apps.apply(bundleID, recorded: settings) }
      case .beginning, .outcome, .lost, .end, .nothing: break
      }
    }
    guard try reach(digest.end) else { return }
    if !isSettled { try clock.move(to: clock.now) }
    try clock.settle()
  }

  /// Waits for the time of something that was recorded at `instant`, and moves the clock there; false when somebody wants an end.
  private mutating func reach(_ instant: Instant) throws -> Bool {
    let span = max(.zero, instant - digest.start)
    let due = beginning.steady + pace.delay(span)
    while !interruption.isSet, Machine.steady < due { Machine.sleep(min(due - Machine.steady, .milliseconds(100))) }
    guard !interruption.isSet else { return false }
    // What was sent before has come to its end by then: nothing depends on how fast who answers.
    let target = max(clock.now, beginning.product + span)
    if target > clock.now || !isSettled { try clock.move(to: target) }
    isSettled = true
    return true
  }

  private mutating func send(_ recorded: RecordedPush) throws {
    isSettled = false
    let push = apps.moved(tokens.moved(dates.moved(recorded, to: clock.senders)))
    do {
      let answer = try sender.send(push, now: clock.senders)
      sent.append((recorded.id, answer.id.flatMap { PushID($0) }))
      failures = 0
    } catch {
      failures += 1
      guard failures < Limits.replayFailures else { throw error }
      sent.append((recorded.id, nil))
    }
  }

  private mutating func register(_ registration: JSONObject) throws {
    var (token, body) = tokens.moved(apps.moved(registration))
    if options.profile.developerMode { body["developerMode"] = true }
    let answer = try control.call("PUT", "/v1/registrations/\(token)", .object(body))
    if answer.isSuccess { registered.insert(token) } else { refusals.append("\(CommandError(answer))") }
  }

  private mutating func unregister(_ token: String) throws {
    guard registered.remove(token) != nil else { return }
    let answer = try control.call("DELETE", "/v1/registrations/\(token)")
    guard answer.isSuccess || answer.status == 404 else { throw CommandError(answer) }
  }

  /// What the server's log says of the pushes that were sent.
  private func report() throws -> ReplayReport {
    var found: [PushID: RecordedOutcome] = [:]
    let wanted = Set(sent.compactMap(\.replayed))
    var after = ""
    pages: while found.count < wanted.count {
      let page = try control.get("/v1/pushes?limit=\(Limits.pageRows)\(after)", timeout: .seconds(30))
      for row in page["pushes"]?.arrayValue ?? [] {
        guard let id = row["id"]?.stringValue.flatMap({ PushID($0) }), wanted.contains(id) else { continue }
        found[id] = RecordedOutcome(pushJSON: row)
      }
      guard let next = page["next"]?.stringValue else { break pages }
      after = "&after=\(next)"
    }
    var report = ReplayReport(span: digest.end - digest.start)
    for push in sent {
      report.add(
        push.recorded, digest.outcomes[push.recorded], as: push.replayed?.description, push.replayed.flatMap { found[$0] })
    }
    return report
  }

  /// Takes back what the replay has done to the server; returns what could not be.
  private func restore() -> [String] {
    var problems = apps.remove()
    do { try clock.restore() } catch { problems.append("the clock, which stands: \(error)") }
    return problems
  }
}

extension RecordingLine.Content {
  /// Whether there is something to do about it in a replay.
  fileprivate var asksForSomething: Bool {
    switch self {
    case .push, .registration, .unregistered, .app: true
    case .beginning, .outcome, .lost, .end, .nothing: false
    }
  }
}
