import Delivery
import Primitives
import Push

/// Channels, the broadcasts that are on their way, and the last ones that were: pure, like the state that it is part of.
///
/// When a delivery is tried again goes by the steady clock, as the delays of pushes do; the rest by the product's.
struct BroadcastState {
  /// How far the product's clock is ahead of the steady one.
  var lead = TimeSpan.zero
  var channels = ChannelTable()
  /// What the next commit saves.
  private(set) var changes: [BroadcastChange] = []
  /// What goes out once the round is durable.
  private(set) var outgoing: [ForwardedBroadcast] = []
  private(set) var records: [UInt64: BroadcastRecord] = [:]
  /// The numbers of the broadcasts with an id, the newest last.
  private var numbers: [PushID: [UInt64]] = [:]
  private var oldest: UInt64 = 1
  private var last: UInt64 = 0
  /// The payloads of those that are not final.
  private var payloads: [UInt64: [UInt8]] = [:]

  /// Whether the next commit has something to save.
  var hasChanges: Bool { !changes.isEmpty }

  /// The commit has saved every change, and what it decided may go out.
  mutating func committed() { changes.removeAll() }

  /// What is to be sent, once.
  mutating func takeOutgoing() -> [ForwardedBroadcast] {
    guard !outgoing.isEmpty else { return [] }
    defer { outgoing.removeAll() }
    return outgoing
  }

  /// How many have not reached every upstream.
  var pendingCount: Int { payloads.count }

  /// Those that have not, oldest first.
  var unended: [BroadcastRecord] { payloads.keys.sorted().compactMap { records[$0] } }

  /// The broadcasts with that id, newest first.
  func records(of id: PushID) -> [BroadcastRecord] { (numbers[id] ?? []).reversed().compactMap { records[$0] } }

  /// Those that match, newest first, and whether there are more than the query's limit.
  func page(_ query: BroadcastQuery) -> (records: [BroadcastRecord], hasMore: Bool) {
    let limit = max(1, min(query.limit, Limits.pageRows))
    var found: [BroadcastRecord] = []
    var number = min(query.before ?? .max, last + 1)
    while number > oldest {
      number -= 1
      guard let record = records[number], query.matches(record) else { continue }
      if found.count == limit { return (found, true) }
      found.append(record)
    }
    return (found, false)
  }

  /// When a broadcast must be looked at again, by the steady clock; nil when none by itself.
  var nextDue: Instant? {
    guard !payloads.isEmpty else { return nil }
    return payloads.keys.compactMap { records[$0] }.flatMap(\.deliveries).filter { !$0.disposition.isFinal }.map(\.due).min()
  }
}

// MARK: Requests

extension BroadcastState {
  /// Carries out what the provider API asks.
  ///
  /// - Parameters:
  ///   - route: The upstreams of the owner, its app's index, and whether channels that are not known may be sent to.
  mutating func carryOut(
    _ operation: ChannelOperation, of owner: ChannelOwner, route: BroadcastRoute, patience: TimeSpan, at now: Instant
  ) -> ChannelAnswer {
    switch operation {
    case .create(let id, let policy):
      return channels.create(id, policy, of: owner, &changes) ? .done : .refused(.cannotCreateChannelConfig)
    case .list: return .channels(channels.ids(of: owner))
    case .read(let id): return live(id, owner).map { .policy($0.policy) } ?? .refused(absence(id, owner))
    case .delete(let id):
      guard let channel = live(id, owner) else { return .refused(absence(id, owner)) }
      channels.delete(channel, &changes)
      return .done
    case .send(let submission): return send(submission, of: owner, route, patience, at: now)
    }
  }

  private func live(_ id: ChannelID, _ owner: ChannelOwner) -> Channel? {
    channels.find(id, owner).flatMap { $0.isDeleted ? nil : $0 }
  }

  /// Why a channel is not there; one of another app or environment is as good as none.
  private func absence(_ id: ChannelID, _ owner: ChannelOwner) -> Reason {
    channels.find(id, owner) == nil ? .badChannelID : .channelNotRegistered
  }

  private mutating func send(
    _ submission: BroadcastSubmission, of owner: ChannelOwner, _ route: BroadcastRoute, _ patience: TimeSpan, at now: Instant
  ) -> ChannelAnswer {
    if route.adopts, channels[submission.channel] == nil {
      guard channels.create(submission.channel, .mostRecent, of: owner, &changes) else { return .refused(.tooManyRequests) }
    }
    guard let channel = live(submission.channel, owner) else { return .refused(absence(submission.channel, owner)) }
    if channel.policy == .none, submission.expiration != .zero { return .refused(.badExpirationDate) }
    guard hasRoom(for: route) else { return .refused(.tooManyRequests) }
    last += 1
    var record = BroadcastRecord(
      sequence: last, id: submission.id, owner: owner, channel: channel.id, priority: submission.priority,
      expiration: submission.expiration, received: submission.received, warnings: submission.warnings)
    record.warningDetails = submission.warningDetails
    supersedeWaiting(by: record, at: now)
    if channel.policy == .mostRecent, let until = Self.storageEnd(submission.expiration, submission.received), until > now {
      let message = StoredMessage(id: submission.id, until: until, payload: submission.payload)
      channels.setMessage(channel.id, message, &changes)
    }
    record.deliveries = route.upstreams.map { .init(upstream: $0, disposition: .waiting, due: now - lead) }
    payloads[record.sequence] = submission.payload
    add(record)
    release(record.sequence, signer: route.signer, patience: patience, at: now)
    return .done
  }

  /// Whether the upstreams may have one more broadcast to wait for: one that is down leaves the others their part.
  private func hasRoom(for route: BroadcastRoute) -> Bool {
    var shares = UpstreamShares(of: Limits.broadcastsPending, upstreams: route.upstreamCount)
    // So few that nobody has more than its part.
    if shares.reserve > 0, payloads.count < shares.reserve { return true }
    for number in payloads.keys {
      for delivery in records[number]?.deliveries ?? [] where !delivery.disposition.isFinal { shares.add(1, to: delivery.upstream) }
    }
    return route.upstreams.allSatisfy { shares.room(for: $0) > 0 }
  }

  /// Until when a channel keeps the message: its date, but 8 hours at most; nil for one that is not to be kept.
  private static func storageEnd(_ expiration: Expiration, _ received: Instant) -> Instant? {
    guard case .at(let date) = expiration else { return nil }
    return min(date, received + .seconds(Limits.channelMessageSeconds))
  }

  /// A broadcast that still waits for an upstream gives way to a newer one of its channel: only the most recent is kept.
  private mutating func supersedeWaiting(by newer: BroadcastRecord, at now: Instant) {
    for number in payloads.keys.sorted() {
      guard var record = records[number], record.channel == newer.channel else { continue }
      var isChanged = false
      for index in record.deliveries.indices where record.deliveries[index].disposition == .waiting {
        record.deliveries[index].disposition = .merged
        record.deliveries[index].cause = .supersededByNewer
        record.mergedInto = newer.id
        record.add(.init(at: now, disposition: .merged, cause: .supersededByNewer, upstream: record.deliveries[index].upstream))
        isChanged = true
      }
      if isChanged { put(record) }
    }
  }
}

// MARK: Deliveries

extension BroadcastState {
  /// Sends every delivery that is due, and ends those whose date has passed.
  mutating func releaseDue(patience: TimeSpan, at now: Instant, signer: (ChannelOwner) -> Int) {
    for number in payloads.keys.sorted() {
      guard let record = records[number] else { continue }
      if record.deliveries.contains(where: { !$0.disposition.isFinal && $0.due <= now - lead }) {
        release(number, signer: signer(record.owner), patience: patience, at: now)
      }
    }
  }

  private mutating func release(_ number: UInt64, signer: Int, patience: TimeSpan, at now: Instant) {
    guard var record = records[number], let payload = payloads[number] else { return }
    let deadline = Self.deadline(record, patience)
    for index in record.deliveries.indices where !record.deliveries[index].disposition.isFinal && record.deliveries[index].due <= now - lead
    {
      let upstream = record.deliveries[index].upstream
      if record.deliveries[index].attempts > 0, now > deadline {
        end(&record, index, .expired, record.deliveries[index].cause, at: now)
        continue
      }
      record.deliveries[index].disposition = .forwarding
      record.deliveries[index].attempts += 1
      // Its outcome comes before.
      record.deliveries[index].due = now - lead + .milliseconds(2 * Limits.upstreamAnswerMilliseconds)
      record.add(
        .init(at: now, disposition: .forwarding, cause: .none, upstream: upstream, attempt: record.deliveries[index].attempts))
      outgoing.append(
        ForwardedBroadcast(
          ticket: BroadcastTicket(sequence: number, upstream: upstream), id: record.id, bundleID: record.owner.bundleID, signer: signer,
          channel: record.channel, expiration: record.expiration, priority: record.priority, payload: payload))
    }
    put(record)
  }

  /// Takes what became of an attempt; `isFault` where a fault on a mock device has made the answer, which `detail` then tells of.
  mutating func complete(
    _ ticket: BroadcastTicket, _ outcome: UpstreamOutcome, detail: String, isFault: Bool, retry: Retry, patience: TimeSpan,
    using generator: inout SplitMix64, at now: Instant
  ) {
    guard var record = records[ticket.sequence],
      let index = record.deliveries.firstIndex(where: { $0.upstream == ticket.upstream && $0.disposition == .forwarding })
    else { return }
    record.deliveries[index].detail = isFault && !detail.isEmpty ? detail : nil
    switch outcome {
    case .accepted, .pending: end(&record, index, .accepted, .none, at: now)
    case .finished(let disposition, let cause):
      let counts = BroadcastCounts(detail)
      record.deliveries[index].reached = counts.reached
      record.deliveries[index].applied = counts.applied
      record.deliveries[index].detail = counts.rest.isEmpty ? nil : counts.rest
      end(&record, index, disposition, cause, at: now)
    case .unregistered, .expired, .suspect, .refused:
      if case .refused(let status, let reason) = outcome, !isFault {
        record.deliveries[index].detail = "\(status) \(reason?.description ?? "")"
      }
      end(&record, index, .failed, isFault ? .fault : .upstreamRefused, at: now)
    case .retry(let cause), .notAttempted(let cause):
      // With expiration 0, or a date that had passed, there is one attempt, and a few seconds to find a connection for it.
      var mayRetry = !record.expiration.isUnstored(received: record.received)
      if case .notAttempted = outcome { mayRetry = true }
      let due = now - lead + retry.delay(afterFailures: record.deliveries[index].attempts, using: &generator)
      guard mayRetry, due + lead <= Self.deadline(record, patience) else {
        end(&record, index, .expired, cause, at: now)
        break
      }
      record.deliveries[index].disposition = .waiting
      record.deliveries[index].cause = cause
      record.deliveries[index].due = due
      record.add(.init(at: now, disposition: .waiting, cause: cause, upstream: ticket.upstream))
    }
    put(record)
  }

  private mutating func end(_ record: inout BroadcastRecord, _ index: Int, _ disposition: Disposition, _ cause: Cause, at now: Instant) {
    record.deliveries[index].disposition = disposition
    record.deliveries[index].cause = cause
    record.add(
      .init(
        at: now, disposition: disposition, cause: cause, upstream: record.deliveries[index].upstream,
        attempt: record.deliveries[index].attempts))
  }

  /// After which nothing is sent any more.
  private static func deadline(_ record: BroadcastRecord, _ patience: TimeSpan) -> Instant {
    storageEnd(record.expiration, record.received).map { max($0, record.received + patience) } ?? record.received + patience
  }
}

// MARK: Records

extension BroadcastState {
  private mutating func add(_ record: BroadcastRecord) {
    numbers[record.id, default: []].append(record.sequence)
    put(record)
    while record.sequence - oldest >= UInt64(Limits.broadcastLog) {
      // One that is still on its way stays until it has ended: it is younger than 8 hours, and there are few.
      if let old = records[oldest], old.isFinal { forget(old) }
      oldest += 1
    }
  }

  /// Forgets a broadcast; what comes of it if it is on its way is of no interest.
  mutating func forget(_ record: BroadcastRecord) {
    records[record.sequence] = nil
    payloads[record.sequence] = nil
    numbers[record.id]?.removeAll { $0 == record.sequence }
    if numbers[record.id]?.isEmpty == true { numbers[record.id] = nil }
    changes.append(.forgetBroadcast(number: record.sequence))
  }

  /// Forgets what a channel has stored: its time is over.
  mutating func clearMessage(of id: ChannelID) {
    channels.setMessage(id, StoredMessage(id: PushID(high: 0, low: 0), until: .distantPast, payload: []), &changes)
  }

  /// Keeps what has become of a broadcast; the next commit saves it, unless it is no news.
  mutating func put(_ record: BroadcastRecord, isNews: Bool = true) {
    records[record.sequence] = record
    guard isNews else { return }
    if record.isFinal { payloads[record.sequence] = nil }
    changes.append(
      .putBroadcast(
        number: record.sequence, record: BroadcastCoding.encode(record), payload: payloads[record.sequence] ?? []))
    if record.isFinal, record.sequence < oldest { forget(record) }
  }

  /// Takes a saved broadcast; they come by number. What was on its way goes again at once, since whether it arrived is not known,
  /// to the upstreams that the present configuration has for it.
  mutating func load(_ record: BroadcastRecord, payload: [UInt8], route: BroadcastRoute, at now: Instant) {
    var record = record
    if !record.isFinal {
      let open = record.deliveries.filter { !$0.disposition.isFinal }
      record.deliveries.removeAll { !$0.disposition.isFinal }
      for upstream in route.upstreams where !record.deliveries.contains(where: { $0.upstream == upstream }) {
        var delivery = open.first { $0.upstream == upstream } ?? .init(upstream: upstream, disposition: .waiting, due: now - lead)
        (delivery.disposition, delivery.due) = (.waiting, now - lead)
        record.deliveries.append(delivery)
      }
    }
    if records.isEmpty { oldest = record.sequence }
    last = max(last, record.sequence)
    records[record.sequence] = record
    numbers[record.id, default: []].append(record.sequence)
    if !record.isFinal { payloads[record.sequence] = payload }
  }
}

/// Where an owner's broadcasts go, under the present configuration.
struct BroadcastRoute {
  var upstreams: [UInt16]
  var signer: Int
  /// How many upstreams there are in all.
  var upstreamCount = 0
  /// Whether a channel that is not known here may be sent to: at Apple it may be.
  var adopts: Bool
}

/// How many activities a mock device says that it reached: `reached=3 applied=2`, and then whatever else it had to say.
struct BroadcastCounts {
  var reached: Int?
  var applied: Int?
  var rest = ""

  init(_ detail: String) {
    let words = detail.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count >= 2, words[0].hasPrefix("reached="), words[1].hasPrefix("applied="), let reached = Int(words[0].dropFirst(8)),
      let applied = Int(words[1].dropFirst(8)), reached >= applied, applied >= 0
    else {
      rest = detail
      return
    }
    (self.reached, self.applied) = (reached, applied)
    if words.count == 3 { rest = String(words[2]) }
  }
}
