import Primitives
public import Push
import Synchronization

extension Store {
  /// Begins a reload; what it answers is durable. Its pushes are made from then on, also after a restart.
  public func beginReload(_ request: ReloadRequest) async throws(StoreError) -> ReloadAnswer {
    let (answer, number) = try await change { $0.state.errands.begin(request, at: $0.now) }
    if let number { carryOutReload(number) }
    return answer
  }

  /// The reload with that id; nil when none is known.
  public func reload(_ id: PushID) async throws(StoreError) -> Reload? {
    try await ask { $0.state.errands.reload(id)?.1 }
  }

  /// One page of the reloads of apps that the caller may see, newest first, and where the next begins.
  public func reloads(
    bundleID: String?, visibleBundleIDs: Set<String>?, state: Reload.State?, before: UInt32?, limit: Int
  ) async throws(StoreError) -> (reloads: [Reload], next: UInt32?) {
    try await ask { core in
      let page = core.state.errands.page(before: before ?? .max, limit: max(1, min(limit, Limits.pageRows))) { reload in
        let owner = reload.request.selector.bundleID
        return bundleID.map { $0 == owner } ?? true && visibleBundleIDs.map { $0.contains(owner) } ?? true
          && state.map { $0 == reload.state } ?? true
      }
      return (page.reloads, page.hasMore ? page.last : nil)
    }
  }

  /// Makes no further pushes for a reload; those that were made go their way. Durable when it answers; false when it runs no more.
  public func stopReload(_ id: PushID) async throws(StoreError) -> Bool {
    try await change { core in
      guard let (number, reload) = core.state.errands.reload(id), reload.state == .running else { return false }
      let now = core.now
      core.state.errands.change(number) { ($0.state, $0.ended) = (.stopped, now) }
      return true
    }
  }

  /// What a reload would do at this moment, with nothing done about it.
  ///
  /// - Throws: `notReady` when several are being made already: each looks at every registration.
  public func forecastReload(_ selector: ReloadSelector) async throws(StoreError) -> ReloadForecast {
    let isFree = forecasts.withLock { count in
      guard count < Limits.reloadForecasts else { return false }
      count += 1
      return true
    }
    guard isFree else { throw .notReady("\(Limits.reloadForecasts) dry runs are being made already") }
    defer { forecasts.withLock { $0 -= 1 } }
    var forecast = ReloadForecast()
    var position: ReloadPosition? = .start
    while let from = position {
      let page = try engine.reloadPage(selector, from: from, rows: Limits.reloadRows, tokens: Limits.reloadSlice)
      forecast = try await ask { [forecast] core in
        let batch = core.pool.take()
        defer { core.pool.give(batch) }
        var further = forecast
        core.state.forecast(page, bundleID: selector.bundleID, &further, batch, at: core.now)
        return further
      }
      position = page.next
    }
    return forecast
  }

  /// Goes on with a reload until it has ended, or the store has. Registrations are read here, beside the store thread, a page at a time,
  /// and one page waits for its turn at most.
  func carryOutReload(_ number: UInt32) {
    Task(priority: .utility) { [self] in
      while true {
        do throws(StoreError) {
          switch try await change({ $0.state.nextStep(number, at: $0.now) }) {
          case .done: return
          case .count(let selector):
            let matches = try await count(selector)
            try await change { $0.state.errands.change(number) { $0.matches = matches } }
          case .walk(let selector, let from, let tokens):
            let page = try engine.reloadPage(selector, from: from, rows: Limits.reloadRows, tokens: tokens)
            try await suspend { core, resume in
              core.slices.append(StoreCore.ReloadSlice(number: number, from: from, page: page, resume: resume))
            }
          }
        } catch .stopped {
          return
        } catch {
          // The store takes no writes at present, or cannot read: it is asked again, as often as it tries itself.
          try? await Task.sleep(for: .milliseconds(Limits.storeRetryMilliseconds))
        }
      }
    }
  }

  private func count(_ selector: ReloadSelector) async throws(StoreError) -> Int {
    var count = 0
    var position: ReloadPosition? = .start
    while let from = position {
      let page = try engine.reloadPage(selector, from: from, rows: Limits.reloadRows, tokens: Limits.reloadRows)
      count += page.tokens.count
      position = page.next
      await Task.yield()
    }
    return count
  }
}
