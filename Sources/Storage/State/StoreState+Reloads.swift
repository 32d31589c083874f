import Delivery
import Primitives
import Push

// Pushes that the gateway makes for a reload: admitted like any other, each by its token, its lane and its budgets.
extension StoreState {
  /// Whether a reload may go on now, and when at the latest it is to be looked at again: nil when only a push that ends makes room.
  func mayGoOn(_ reload: borrowing Reload, at now: Instant) -> (Bool, wake: Instant?) {
    let due = reload.pace?.due(after: reload.visited) ?? now
    guard due <= now else { return (false, due) }
    // Some of it is kept for each reload: others that go to an upstream which is down do not stop it.
    let mayForward =
      errands.forwardingCount < Limits.reloadPushesForwarding
      || reload.forwarding < Limits.reloadPushesForwarding / Limits.reloadsRunning
    let mayOpen =
      errands.openCount < Limits.reloadPushesOpen || reload.open < Limits.reloadPushesOpen / Limits.reloadsRunning
    return (mayForward && mayOpen && hasRoom(for: reload.request.selector.bundleID), nil)
  }

  /// Whether the upstreams of an app have room for pushes that nobody waits for.
  private func hasRoom(for bundleID: String) -> Bool {
    routes.upstreams(of: bundleID).allSatisfy { shares.isAtEase($0) }
  }

  /// What a reload does next.
  mutating func nextStep(_ number: UInt32, at now: Instant) -> ReloadStep {
    guard let reload = errands.reloads[number], reload.state == .running else { return .done }
    guard let matches = reload.matches else { return .count(reload.request.selector) }
    let pace =
      reload.pace
      ?? ReloadPace(
        total: matches, spread: reload.request.spread, visited: reload.visited, at: max(now, reload.resumesAt ?? now))
    if reload.pace == nil { errands.change(number) { $0.pace = pace } }
    return .walk(reload.request.selector, from: reload.position, tokens: pace.slice(limit: Limits.reloadSlice))
  }

  /// Makes the pushes of one slice, and remembers how far the reload is; both are saved by the same commit, so that a token gets its push
  /// once, whatever dies.
  ///
  /// - Parameter batch: Gives the batch that goes to a token's loop.
  mutating func admit(
    _ page: ReloadPage, of number: UInt32, loops: Int, at now: Instant, _ batch: (Int) -> Batch
  ) {
    guard let reload = errands.reloads[number] else { return }
    var pushes = ReloadPushes(bundleID: reload.request.selector.bundleID, loops: loops)
    var skipped = 0
    errand = number
    for token in page.tokens {
      guard let found = tokens.find(token), isReloadable(found, bundleID: reload.request.selector.bundleID) else {
        skipped += 1
        continue
      }
      let loop = loops == 1 ? 0 : Int(tokens.hash(found) % UInt64(loops))
      let batch = batch(loop)
      var operation = pushes.operation(
        ErrandTable.pushID(of: reload.id), to: token, tokens[found].pointee.kind, in: batch, loop: loop, at: now)
      admit(&operation, nil, batch, known: found, at: now)
      switch operation.result {
      case .forwarded, .waiting: errands.opened(number)
      case .merged, .ended, .refused, .unsettled: errands.count(number, operation.result.disposition)
      }
    }
    errand = none
    errands.change(number) { reload in
      reload.visited += page.tokens.count
      reload.skipped += skipped
      reload.resumesAt = reload.pace?.due(after: reload.visited)
      if let next = page.next {
        reload.position = next
      } else {
        reload.state = .finished
        reload.ended = now
      }
    }
  }

  /// What the pushes of some tokens would become, with nothing done about it.
  mutating func forecast(_ page: ReloadPage, bundleID: String, _ forecast: inout ReloadForecast, _ batch: Batch, at now: Instant) {
    var pushes = ReloadPushes(bundleID: bundleID, loops: 1)
    for token in page.tokens {
      forecast.matches += 1
      guard let found = tokens.find(token), isReloadable(found, bundleID: bundleID) else {
        forecast.skipped += 1
        continue
      }
      let operation = pushes.operation(
        PushID(high: 0, low: 0), to: token, tokens[found].pointee.kind, in: batch, loop: 0, at: now)
      forecast.first[Int(preview(operation, batch, at: now).result.disposition.rawValue)] += 1
    }
  }

  /// Whether a token lives, and is still one that a reload of the app can mean.
  private func isReloadable(_ number: UInt32, bundleID: String) -> Bool {
    let token = tokens[number]
    return token.pointee.isActive && !token.pointee.isRetired && (token.pointee.kind == .widgets || token.pointee.kind == .controls)
      && routes.bundleID(token.pointee.route) == bundleID
  }
}

/// What a reload does next.
enum ReloadStep: Sendable {
  /// Counts what matches.
  case count(ReloadSelector)
  /// Makes the pushes of up to so many tokens from there on.
  case walk(ReloadSelector, from: ReloadPosition, tokens: Int)
  /// Nothing any more.
  case done
}

/// The pushes of one slice, which differ in nothing but id and token: their bytes stand once in each batch.
private struct ReloadPushes {
  private let bundleID: String
  private var ranges: [[Ranges?]]

  private struct Ranges {
    var topic, payload: ByteRange
  }

  init(bundleID: String, loops: Int) {
    self.bundleID = bundleID
    ranges = Array(repeating: [nil, nil], count: loops)
  }

  /// Apple's own samples send neither priority nor expiration with a widgets push; so it may wait, and is tried again.
  mutating func operation(
    _ id: PushID, to token: DeviceToken, _ kind: TokenKind, in batch: Batch, loop: Int, at now: Instant
  ) -> AdmitOperation {
    let type: PushType = kind == .controls ? .controls : .widgets
    let place = type == .controls ? 1 : 0
    let bytes =
      ranges[loop][place]
      ?? Ranges(topic: batch.append("\(bundleID)\(type.topicSuffix)"), payload: batch.append(#"{"aps":{"content-changed":true}}"#))
    ranges[loop][place] = bytes
    return AdmitOperation(
      reply: 0, id: id, token: token, type: type, traits: .reload, received: now, topic: bytes.topic,
      bundleID: ByteRange(offset: Int(bytes.topic.offset), count: bundleID.utf8.count), payload: bytes.payload)
  }
}
