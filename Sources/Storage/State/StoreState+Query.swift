import Primitives
import Push

// Reading the push log, for people and scripts.
extension StoreState {
  /// The lives of the pushes with that id, newest first; only the newest unless `all`.
  func records(of id: PushID, all: Bool) -> [PushRecord] {
    var records: [PushRecord] = []
    var entry = log.find(id)
    while let found = entry {
      records.append(record(found))
      entry = found.pointee.previousOfID == 0 ? nil : log[found.pointee.previousOfID]
    }
    var sequence = refused.next
    while sequence > refused.oldest {
      sequence -= 1
      if refused[sequence].pointee.id == id { records.append(record(refusedAt: sequence)) }
    }
    records.sort { $0.received > $1.received }
    return all ? records : Array(records.prefix(1))
  }

  /// One page of the pushes that match, newest first.
  ///
  /// - Parameter wanted: How many matches are waited for; then all that match are counted, and near misses are found when
  ///   they are too few.
  func page(_ query: PushQuery, wanted: Int? = nil) -> PushPage {
    let limit = max(1, min(query.limit, Limits.pageRows))
    let filter = LogFilter(query, self)
    var page = PushPage(pushes: [], next: nil, complete: true, matched: 0, nearMisses: [])
    visit(filter, isExact: wanted == nil) { place, misses in
      if misses.isEmpty {
        page.matched += 1
        if page.pushes.count < limit {
          page.pushes.append(record(place))
        } else if page.next == nil {
          page.next = page.pushes.last?.cursor
        }
      } else if page.nearMisses.count < Limits.nearMisses, let differs = misses.onlyName {
        page.nearMisses.append(NearMiss(push: record(place), differs: differs))
      }
      return wanted.map { page.matched < max($0, limit) } ?? (page.next == nil)
    }
    if let wanted { page.complete = page.matched >= wanted }
    if page.complete { page.nearMisses = [] }
    return page
  }

  /// Whether any of what changed since `refusedSeen` and in `touchedEntries` meets the query.
  func hasNews(for query: PushQuery, refusedSeen: UInt64) -> Bool {
    let filter = LogFilter(query, self)
    for sequence in touchedEntries {
      if let entry = log[sequence], filter.misses(entry, log.last(of: entry).disposition)?.isEmpty ?? false { return true }
    }
    for sequence in max(refusedSeen, refused.oldest)..<max(refusedSeen, refused.next) {
      let entry = refused[sequence]
      if filter.misses(entry, bundleID: refused.text(entry.pointee.bundleID))?.isEmpty ?? false { return true }
    }
    return false
  }

  /// A place in one of the two rings.
  private enum Place {
    case accepted(UnsafeMutablePointer<LogEntry>, refusedBefore: UInt64)
    case refused(UInt64, acceptedBefore: UInt64)
  }

  /// Walks both rings from new to old until `body` says false.
  ///
  /// - Parameter isExact: Only what misses nothing is wanted, so a token's own list is enough.
  private func visit(_ filter: LogFilter, isExact: Bool, _ body: (Place, LogFilter.Misses) -> Bool) {
    var accepted = min(filter.query.after?.accepted ?? log.next, log.next)
    var refusal = min(filter.query.after?.refused ?? refused.next, refused.next)
    var chain: UnsafeMutablePointer<LogEntry>?
    func older(_ sequence: UInt64) -> UnsafeMutablePointer<LogEntry>? {
      var sequence = sequence
      while sequence > log.oldest {
        sequence -= 1
        if let entry = log[sequence] { return entry }
      }
      return nil
    }
    func olderInChain(_ entry: UnsafeMutablePointer<LogEntry>) -> UnsafeMutablePointer<LogEntry>? {
      entry.pointee.previousOfToken == 0 ? nil : log[entry.pointee.previousOfToken]
    }
    let usesChain = isExact && filter.token != nil
    if usesChain {
      let head = filter.token.flatMap { $0 == none ? nil : log[tokens[$0].pointee.logHead] }
      chain = head
      while let entry = chain, entry.pointee.sequence >= accepted { chain = olderInChain(entry) }
    } else {
      chain = older(accepted)
    }
    while true {
      let hasRefusal = refusal > refused.oldest
      if let entry = chain, !hasRefusal || log.step(0, of: entry).at >= refused[refusal - 1].pointee.at {
        accepted = entry.pointee.sequence
        if let misses = filter.misses(entry, log.last(of: entry).disposition),
          !body(.accepted(entry, refusedBefore: refusal), misses)
        {
          return
        }
        chain = usesChain ? olderInChain(entry) : older(accepted)
      } else if hasRefusal {
        refusal -= 1
        let entry = refused[refusal]
        if let misses = filter.misses(entry, bundleID: refused.text(entry.pointee.bundleID)),
          !body(.refused(refusal, acceptedBefore: accepted), misses)
        {
          return
        }
      } else {
        return
      }
    }
  }

  private func record(_ place: Place) -> PushRecord {
    switch place {
    case .accepted(let entry, let refusedBefore):
      var record = record(entry)
      record.cursor = PushCursor(accepted: entry.pointee.sequence, refused: refusedBefore)
      return record
    case .refused(let sequence, let acceptedBefore):
      var record = record(refusedAt: sequence)
      record.cursor = PushCursor(accepted: acceptedBefore, refused: sequence)
      return record
    }
  }

  /// An entry as the control side shows it.
  func record(_ entry: UnsafeMutablePointer<LogEntry>) -> PushRecord {
    let steps = (0..<Int(entry.pointee.stepCount)).map { log.step($0, of: entry) }
    let last = steps[steps.count - 1]
    return PushRecord(
      cursor: PushCursor(accepted: entry.pointee.sequence, refused: refused.next), id: entry.pointee.id,
      token: tokens.token(entry.pointee.token), bundleID: routes.bundleID(entry.pointee.route), type: entry.pointee.type,
      priority: entry.pointee.priority, received: entry.pointee.received, status: 200, reason: entry.pointee.reason,
      upstreamStatus: entry.pointee.upstreamStatus == 0 ? nil : Int(entry.pointee.upstreamStatus), disposition: last.disposition,
      cause: last.cause, detail: log.detail(of: entry)?.pointee.string,
      mergedInto: entry.pointee.isMerged ? entry.pointee.mergedInto : nil, warnings: entry.pointee.warnings,
      steps: steps.map { step in
        PushRecord.Step(
          at: step.at, disposition: step.disposition, cause: step.cause, budgetBefore: step.hasBudget ? Int(step.budgetBefore) : nil,
          budgetAfter: step.hasBudget ? Int(step.budgetAfter) : nil, attempt: step.attempt == 0 ? nil : Int(step.attempt))
      })
  }

  private func record(refusedAt sequence: UInt64) -> PushRecord {
    let entry = refused[sequence].pointee
    let detail = refused.text(entry.detail)
    return PushRecord(
      cursor: PushCursor(accepted: log.next, refused: sequence), id: entry.id, token: entry.token,
      bundleID: refused.text(entry.bundleID), type: entry.type, priority: nil, received: entry.received, status: entry.reason.status,
      reason: entry.reason, upstreamStatus: nil, disposition: .refused, cause: entry.cause, detail: detail.isEmpty ? nil : detail,
      mergedInto: nil, warnings: [],
      steps: [PushRecord.Step(at: entry.at, disposition: .refused, cause: entry.cause, budgetBefore: nil, budgetAfter: nil, attempt: nil)])
  }
}
