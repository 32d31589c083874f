import Delivery
import Foundation
import Primitives
import Push
import Recorder
import Synchronization

@testable import Storage

/// A store with its thread, a clock that the test sets, and one loop that collects what is delivered.
final class Harness: Sendable {
  let store: Store
  private let delivered: Delivered

  /// What came back, for whoever waits for it.
  private final class Delivered: Sendable {
    let batches = Mutex<[(loop: Int, batch: Batch)]>([])
    let readiness = Recorder<Readiness>()
    let warnings = Mutex<[(warning: StoreWarning, holds: Bool)]>([])
    let arrived = DispatchSemaphore(value: 0)
  }

  init(
    _ engine: any Engine = MemoryEngine(), policy: AppPolicy = AppPolicy(), loops: Int = 1,
    _ adjust: (inout StoreSettings) -> Void = { _ in }
  ) throws {
    var settings = StoreSettings()
    settings.registrations = 10_000
    settings.logEntries = 8192
    settings.waitingBytes = 64 << 20
    adjust(&settings)
    let start: Int64 = 1_800_000_000_000_000_000
    let clock = ClockBox(start)
    let delivered = Delivered()
    self.delivered = delivered
    self.clock = clock
    store = try Store(
      engine: engine, apps: AppDirectory([], anyApp: AppDirectory.App(bundleID: "", policy: policy)), loops: loops, settings: settings,
      clock: { clock.moment },
      resolveUpstream: { [settings] in Bench.resolver(AppDirectory([]), settings.upstreams).upstream($0, $1, $2) },
      readinessChanged: { delivered.readiness.append($0) },
      warned: { warning, holds in delivered.warnings.withLock { $0.append((warning, holds)) } }
    ) { loop, batch in
      delivered.batches.withLock { $0.append((loop, batch)) }
      delivered.arrived.signal()
    }
  }

  private let clock: ClockBox

  final class ClockBox: Sendable {
    private struct Time {
      var steady: Instant
      var ahead = TimeSpan.zero
    }

    private let value: Mutex<Time>
    init(_ value: Int64) { self.value = Mutex(Time(steady: Instant(nanoseconds: value))) }

    var moment: Moment {
      let time = value.withLock { $0 }
      return Moment(now: time.steady + time.ahead, real: time.steady + time.ahead, steady: time.steady)
    }

    func advance(_ span: TimeSpan) { value.withLock { $0.steady = $0.steady + span } }
    func leap(_ span: TimeSpan) { value.withLock { $0.ahead = $0.ahead + span } }
  }

  var now: Instant { clock.moment.now }
  /// The time of the clock that nobody sets.
  var steady: Instant { clock.moment.steady }

  /// Sets the machine's clock, ahead or back, in which no time passes.
  func setMachine(by leap: TimeSpan) {
    clock.leap(leap)
    store.clockChanged()
  }

  /// What the store told of its readiness, in order.
  var readinessTold: Recorder<Readiness> { delivered.readiness }

  /// The warnings that the store told of, in order.
  var warningsTold: [(warning: StoreWarning, holds: Bool)] { delivered.warnings.withLock { $0 } }

  /// Sets the clock on, and tells the store unless it is to find out by itself.
  func advance(_ span: TimeSpan, quietly: Bool = false) {
    clock.advance(span)
    if !quietly { store.clockChanged() }
  }

  /// A batch of one push for each token, with ids that count up from `first`.
  func batch(_ tokens: [Int], first: Int, _ type: PushType = .widgets) -> Batch {
    let batch = store.makeBatch()
    for (index, token) in tokens.enumerated() {
      batch.admits.append(Bench.operation(batch, id: first + index, token: Bench.token(token), type: type, at: now))
    }
    return batch
  }

  /// The next delivered batch; nil when none comes within two minutes.
  func next() -> (loop: Int, batch: Batch)? {
    guard delivered.arrived.wait(timeout: .now() + 120) == .success else { return nil }
    return delivered.batches.withLock { $0.removeFirst() }
  }

  /// How many batches came back that nobody has taken.
  var pending: Int { delivered.batches.withLock { $0.count } }

  /// Submits and waits for the same batch to come back.
  ///
  /// Batches that come unasked meanwhile are left for `next`.
  func settle(_ batch: Batch) -> Batch? {
    guard store.submit(batch, from: 0) else { return nil }
    var others: [(loop: Int, batch: Batch)] = []
    defer {
      delivered.batches.withLock { $0.insert(contentsOf: others, at: 0) }
      for _ in others { delivered.arrived.signal() }
    }
    while let arrived = next() {
      if arrived.batch === batch { return batch }
      others.append(arrived)
    }
    return nil
  }

  func complete(_ push: ForwardedPush, _ outcome: UpstreamOutcome) -> Batch? {
    let batch = store.makeBatch()
    batch.completions.append(CompleteOperation(ticket: push.ticket, outcome: outcome))
    return settle(batch)
  }
}
