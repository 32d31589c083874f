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
      if refused[sequence].pointee.id == id, !refused[sequence].pointee.isForgotten { records.append(record(refusedAt: sequence)) }
    }
    records.sort { $0.received > $1.received }
    return all ? records : Array(records.prefix(1))
  }

  /// One page of the pushes that match, newest first.
  func page(_ query: PushQuery) -> PushPage {
    if let id = query.id { return page(ofID: id, query, isWaitedFor: false) }
    let limit = max(1, min(query.limit, Limits.pageRows))
    let filter = LogFilter(query, self)
    var page = PushPage(pushes: [], next: nil, complete: true, matched: 0, nearMisses: [])
    var walk = LogWalk(query, token: filter.token, self)
    var visits = Limits.logEntriesPerPage
    while page.pushes.count < limit, let place = walk.next(self, visits: &visits) {
      if filter.misses(place, self)?.isEmpty ?? false { page.pushes.append(record(place, walk.cursor)) }
    }
    // A place from which nothing comes is worth one more look.
    visits = max(visits, 1)
    if !walk.isAtEnd(self, visits: &visits) { page.next = walk.cursor }
    page.matched = page.pushes.count
    return page
  }

  /// The pushes that match, newest first, for a call that waits until there are `wanted` of them. O(the log).
  ///
  /// - Parameter isLast: Whether the wait is over; then too few matches come with the latest that nearly were.
  func page(_ query: PushQuery, wanted: Int, isLast: Bool) -> PushPage {
    if let id = query.id { return page(ofID: id, query, isWaitedFor: true) }
    var search = PushSearch(query, wanted: wanted, self)
    var visits = Int.max
    search.look(self, visits: &visits)
    var page = search.page(self)
    if isLast, !page.complete { page.nearMisses = nearMisses(query, visits: &visits) }
    return page
  }

  /// The newest push of that id that the caller may see; a wait for it is complete once it has ended.
  private func page(ofID id: PushID, _ query: PushQuery, isWaitedFor: Bool) -> PushPage {
    let pushes = records(of: id, all: true).filter { query.visibleBundleIDs?.contains($0.bundleID) ?? true }.prefix(1)
    let hasEnded = pushes.first?.disposition.isFinal ?? false
    return PushPage(
      pushes: Array(pushes), next: nil, complete: hasEnded || !isWaitedFor, matched: isWaitedFor && !hasEnded ? 0 : pushes.count,
      nearMisses: [])
  }

  /// Whether a push of that id is among what changed, of the refused ones since `refusedSeen`.
  func hasNews(of id: PushID, refusedSeen: UInt64) -> Bool {
    let first = max(refusedSeen, refused.oldest)
    return touchedEntries.contains { log[$0]?.pointee.id == id }
      || (first..<max(first, refused.next)).contains { refused[$0].pointee.id == id && !refused[$0].pointee.isForgotten }
  }

  /// The latest pushes that miss exactly one criterion, as far as `visits` reach, and no further than a page does: those of the token that
  /// is asked for first.
  func nearMisses(_ query: PushQuery, visits: inout Int) -> [NearMiss] {
    let filter = LogFilter(query, self)
    var (found, elsewhere): ([NearMiss], [NearMiss]) = ([], [])
    var walk = LogWalk(query, token: nil, self)
    var left = min(visits, Limits.logEntriesPerPage)
    visits -= left
    while found.count < Limits.nearMisses, let place = walk.next(self, visits: &left) {
      guard let misses = filter.misses(place, self), let differs = misses.onlyName else { continue }
      if misses != .token {
        found.append(NearMiss(push: record(place, walk.cursor), differs: differs))
      } else if elsewhere.count < Limits.nearMisses {
        elsewhere.append(NearMiss(push: record(place, walk.cursor), differs: differs))
      }
    }
    visits += left
    return Array((found + elsewhere).prefix(Limits.nearMisses))
  }

  func record(_ place: LogPlace, _ cursor: PushCursor) -> PushRecord {
    var record: PushRecord
    switch place {
    case .accepted(let entry): record = self.record(entry)
    case .refused(let sequence): record = self.record(refusedAt: sequence)
    }
    record.cursor = cursor
    return record
  }

  /// An entry as the control side shows it.
  func record(_ entry: UnsafeMutablePointer<LogEntry>) -> PushRecord {
    let steps = (0..<Int(entry.pointee.stepCount)).map { log.step($0, of: entry) }
    let last = steps[steps.count - 1]
    let head = LogHead(entry.pointee.detail.head)
    return PushRecord(
      cursor: PushCursor(accepted: entry.pointee.sequence, refused: refused.next), id: entry.pointee.id,
      token: tokens.token(entry.pointee.token), bundleID: routes.bundleID(entry.pointee.route), type: entry.pointee.type,
      priority: entry.pointee.priority, expiration: entry.pointee.expiration,
      collapseID: head.collapseID.isEmpty ? nil : String(decoding: head.collapseID, as: UTF8.self), received: entry.pointee.received,
      status: entry.pointee.isPassedOn ? Int(entry.pointee.upstreamStatus) : 200,
      reason: entry.pointee.reason,
      upstreamStatus: entry.pointee.upstreamStatus == 0 ? nil : Int(entry.pointee.upstreamStatus), disposition: last.disposition,
      cause: last.cause, detail: entry.pointee.detail.count == 0 ? nil : entry.pointee.detail.string,
      mergedInto: entry.pointee.isMerged ? entry.pointee.mergedInto : nil,
      errand: errands.errand(of: entry.pointee.id, bundleID: routes.bundleID(entry.pointee.route)),
      lowering: steps.first { $0.cause == .priorityLowered }.flatMap { lowering(entry.pointee.token, at: $0.at) },
      warnings: entry.pointee.warnings,
      warningDetails: WarningDetail.read(String(decoding: head.warningDetails, as: UTF8.self)),
      steps: steps.map { step in
        PushRecord.Step(
          at: step.at, disposition: step.disposition, cause: step.cause, budgetBefore: step.hasBudget ? Int(step.budgetBefore) : nil,
          budgetAfter: step.hasBudget ? Int(step.budgetAfter) : nil, attempt: step.attempt == 0 ? nil : Int(step.attempt))
      })
  }

  /// A refused request as the control side shows it.
  func record(refusedAt sequence: UInt64) -> PushRecord {
    let entry = refused[sequence].pointee
    return PushRecord(
      cursor: PushCursor(accepted: log.next, refused: sequence), id: entry.id, token: entry.token,
      bundleID: entry.bundleID, isOfTokensApp: entry.isOfTokensApp, type: entry.type, priority: nil, received: entry.received,
      status: entry.reason?.status ?? 0,
      reason: entry.reason, upstreamStatus: nil, disposition: .refused, cause: entry.cause,
      detail: entry.detail.isEmpty ? nil : entry.detail,
      mergedInto: nil, errand: errands.errand(of: entry.id, bundleID: entry.bundleID), warnings: [],
      steps: [PushRecord.Step(at: entry.at, disposition: .refused, cause: entry.cause, budgetBefore: nil, budgetAfter: nil, attempt: nil)])
  }
}
