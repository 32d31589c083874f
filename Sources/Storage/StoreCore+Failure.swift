import Primitives
import Push

// When a commit fails: the round is undone by reading the state anew, which is the same code as opening, and leaves nothing to get
// wrong on the way that works. Until writing works again, admissions are answered 503 at once.
extension StoreCore {
  /// Nothing of this round has happened.
  mutating func undo(_ batches: ContiguousArray<(batch: Batch, loop: Int)>, _ error: StoreError) {
    fail(error)
    state.counters.failedCommits += 1
    for resume in afterCommit { resume(.notReady("\(error)")) }
    afterCommit.removeAll()
    var inFlight = Set(state.completed)
    state.forEachInFlight { if $0.pointee.group < state.group { inFlight.insert($0.pointee.sequence) } }
    for item in batches { refuse(item.batch, loop: item.loop) }
    for loop in 0..<loops {
      dueBatches[loop]?.reset()
    }
    reload(inFlight)
  }

  /// Takes no more writes until the engine works again.
  mutating func fail(_ error: StoreError) {
    failure = "\(error)"
    retryAt = steady + .milliseconds(Limits.storeRetryMilliseconds)
    shared.set(.notReady("\(error)"))
  }

  /// Looks once in a while whether commits are still of any use: files that are gone take them as well as others.
  mutating func checkEngine() {
    guard failure == nil, steady >= checkAt else { return }
    checkAt = steady + .milliseconds(Limits.storeCheckMilliseconds)
    spare.look(kept: state.spareBytes, inUse: state.pool.lentBytes)
    do throws(StoreError) { try engine.check() } catch { fail(error) }
  }

  /// Reads the state anew; pushes that loops have in hand stay in flight.
  mutating func reload(_ inFlight: Set<UInt64>) {
    do {
      var fresh = try StoreState.load(engine, settings: settings, resolver: resolver, at: now, lead: state.lead)
      fresh.machineLead = state.machineLead
      fresh.takeOver(&state, inFlight: inFlight)
      state = fresh
      isLoaded = true
      restartWaits()
    } catch {
      lostInFlight = inFlight
      isLoaded = false
    }
    folding = Folding()
  }

  /// Tries whether the engine works again.
  mutating func recover() {
    retryAt = steady + .milliseconds(Limits.storeRetryMilliseconds)
    if !isLoaded { reload(lostInFlight) }
    guard isLoaded else { return }
    do throws(StoreError) { try engine.check() } catch { return fail(error) }
    failure = nil
    let waiting = postponed
    postponed.removeAll()
    for completion in waiting {
      let batch = dueBatch(completion.loop)
      var operation = completion.operation
      operation.detail = completion.detail.withUnsafeBytes { batch.arena.append($0) }
      state.complete(operation, batch, at: now)
    }
    // Should the commit fail, what it has made of these is taken over.
    for report in postponedReports {
      state.completeBroadcast(report.ticket, report.outcome, detail: report.detail, isFault: report.isFault, at: now)
    }
    postponedReports.removeAll()
    // Something is always written, since only that shows that writing works.
    state.probe()
    commit([])
    guard failure == nil else {
      postponed = waiting
      return
    }
    shared.set(.ready)
    // At once, since the rest of the round may fail again, and would take back what it believes not to be sent.
    deliverDue()
  }

  /// Answers a batch that cannot be made durable.
  mutating func refuse(_ batch: Batch, loop: Int) {
    batch.forwards.removeAll(keepingCapacity: true)
    batch.ignored.removeAll(keepingCapacity: true)
    batch.lowered.removeAll(keepingCapacity: true)
    for operation in batch.completions {
      postponed.append(
        PostponedCompletion(operation: operation, detail: batch.bytes[operation.detail].array, loop: loop))
    }
    for index in batch.admits.indices { state.refuse(&batch.admits[index], .refused(.serviceUnavailable), batch, at: now) }
  }
}
