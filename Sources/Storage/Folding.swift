import Primitives

/// Keeps the journal short: pages of tokens and of the log that changed are written into their tables, a slice with each
/// commit, and only when all are there do the journal's rows go.
///
/// A page holds its tokens as they are at that moment, and so may be ahead of journal rows that are kept; replaying those
/// does no harm, since every token that they mention comes again in a later row. Trimming before all pages are written would lose
/// tokens; a test keeps a store that does so, and sees it fail.
struct Folding {
  private enum Phase {
    case idle
    case tokens(from: Int)
    case log(from: Int)
    case trimming
  }

  private var phase = Phase.idle
  private var through: UInt64 = 0
  private let bytes = ByteArena(capacity: 4096)

  /// Whether there is more to do.
  var isBusy: Bool {
    if case .idle = phase { return false }
    return true
  }

  /// Begins to fold the journal up to this row.
  mutating func start(through number: UInt64) {
    through = number
    phase = .tokens(from: 0)
  }

  /// The next commit: the round's journal row, the next slice of folding, and up to about `refusedBytes` of refused requests; nil when
  /// there is nothing to save.
  mutating func prepare(_ state: inout StoreState, _ engine: any Engine, refusedBytes: Int = 0) -> Commit? {
    // With many tokens a page has few that changed, so folding is worth a longer journal: about as long as all pages together.
    let limit = max(state.settings.journalFoldBytes, 96 * state.tokens.activeCount)
    if !isBusy, engine.journalBytes > limit { start(through: state.lastCommit) }
    let hasJournal = state.closeJournal()
    let refusedBytes = state.refused.isUrgent ? Int.max : refusedBytes
    let savesRefused = refusedBytes > 0 && state.refused.hasUnsaved
    guard hasJournal || isBusy || state.hasCold || savesRefused else { return nil }
    var commit = Commit(number: state.lastCommit + 1)
    if hasJournal { commit.journal = state.journal.buffer }
    state.addCold(to: &commit)
    guard isBusy || savesRefused else { return commit }
    bytes.removeAll(keeping: 4 << 20)
    let (tokenPages, logPages) = isBusy ? takeSlice(&commit, &state, engine) : ([], [])
    let refusedPages = savesRefused ? state.writeRefused(to: bytes, bytesMax: refusedBytes) : []
    if savesRefused { commit.dropRefusedPagesBefore = state.refused.firstPage }
    let all = bytes.buffer
    commit.tokenPages = tokenPages.map { ($0.0, all.slice($0.1)) }
    commit.logPages = logPages.map { ($0.0, all.slice($0.1)) }
    commit.refusedPages = refusedPages.map { ($0.number, all.slice($0.bytes)) }
    return commit
  }

  /// Writes pages until the slice is full, then goes on to what is next.
  private mutating func takeSlice(
    _ commit: inout Commit, _ state: inout StoreState, _ engine: any Engine
  ) -> (tokens: [(Int, ByteRange)], log: [(UInt64, ByteRange)]) {
    let limit = max(state.settings.foldSliceBytes, 2 * commit.journal.count)
    var tokenPages: [(Int, ByteRange)] = []
    var logPages: [(UInt64, ByteRange)] = []
    if case .tokens(var from) = phase {
      while bytes.count < limit {
        guard let page = state.dirtyTokens.pop(from: from) else {
          phase = .log(from: 0)
          break
        }
        let start = bytes.count
        state.writeTokenPage(page, to: bytes)
        tokenPages.append((page, ByteRange(offset: start, count: bytes.count - start)))
        from = page + 1
        phase = .tokens(from: from)
      }
    }
    if case .log(var from) = phase {
      while bytes.count < limit {
        guard let page = state.log.popDirty(from: from) else {
          phase = .trimming
          break
        }
        from = page + 1
        phase = .log(from: from)
        for part in state.log.parts(of: page) {
          let start = bytes.count
          bytes.append(UInt32(state.log.capacity))
          for sequence in part.sequences { if let entry = state.log[sequence] { state.writeEntry(entry, to: bytes) } }
          logPages.append((part.number, ByteRange(offset: start, count: bytes.count - start)))
        }
      }
    } else if case .trimming = phase {
      if let oldest = engine.oldestJournalRow, oldest <= through {
        commit.trimJournalThrough = through
        commit.dropLogPagesBefore = state.log.oldest / PushLog.pageEntries
      } else {
        phase = .idle
      }
    }
    return (tokenPages, logPages)
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func slice(_ range: ByteRange) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[Int(range.offset)..<Int(range.offset) + Int(range.count)])
  }
}

extension StoreState {
  /// Whether there is something to save that is not in the journal row.
  var hasCold: Bool {
    !registrationChanges.isEmpty || casts.hasChanges || errands.hasChanges || !vocabulary.added.isEmpty
      || routes.savedCount < routes.names.count || payloads.hasChanges || routes.budgets.hasUnsaved
  }

  /// Adds what is saved beside the journal row.
  func addCold(to commit: inout Commit) {
    commit.registrations = registrationChanges
    commit.broadcasts = casts.changes
    commit.errands = errands.changes
    if payloads.hasChanges { commit.payloads = payloads.change(oldest: log.oldest, bytesMax: settings.payloadBytes) }
    commit.words = vocabulary.added
    commit.budgets = routes.budgets.changes
    for number in routes.savedCount..<routes.names.count {
      let name = routes.names[number]
      commit.routes.append((UInt32(number), name.bundleID, name.environment, name.upstream))
    }
  }

  /// The tokens of one page, each behind its live pushes.
  func writeTokenPage(_ page: Int, to arena: ByteArena) {
    for number in UInt32(page * Self.pageTokens)..<min(UInt32((page + 1) * Self.pageTokens), tokens.end) {
      let token = tokens[number]
      guard token.pointee.flags.contains(.used) else { continue }
      if token.pointee.inFlight != none { writePush(token.pointee.inFlight, to: arena) }
      var slot = token.pointee.laneHead
      while slot != none {
        writePush(slot, to: arena)
        slot = pushes[slot].pointee.next
      }
      writeToken(number, to: arena)
    }
  }
}
