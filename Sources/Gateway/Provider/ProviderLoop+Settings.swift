import Forwarding
import HTTP2
import Primitives
import ProviderAPI
import Push
import Reactor
import Rules
import Security
import Transport

extension ProviderLoop {
  /// Goes by the newest settings from the next request on; what was remembered belonged to the ones before.
  func adoptSettings() throws(CryptoError) {
    let current = settings.value
    state.value.memory = try Self.memory(for: current, seed, tokenUpdates)
    (rules, rates) = (current.rules, current.rates)
    broadcastAnswers = BroadcastAnswerRules(current.rules.answers)
    forwarder.replaceTLS(current.upstreamTLS)
  }

  static func memory(
    for settings: ProviderSettings, _ seed: UInt64, _ updates: SharedTokenUpdates
  ) throws(CryptoError) -> RequestMemory {
    RequestMemory(
      verifier: try ProviderSignatures(keys: settings.keys), capacity: Limits.providerTokenVerdicts, seed: seed, updates: updates)
  }

  /// Closes a connection that has brought too many provider tokens that are none.
  func turnAway(_ connection: HTTP2ServerConnection) {
    let remembered = state(of: connection)
    guard !remembered.isTurnedAway else { return }
    remembered.isTurnedAway = true
    connection.goAway(code: HTTP2ErrorCode.enhanceYourCalm, debug: "{\"reason\":\"\(Reason.invalidProviderToken)\"}")
    metrics.refused(.invalidProviderTokens, shard: index)
    observer?(.invalidProviderTokens(connection.peer))
  }

  /// The refusal of a push of `provider`, which has sent more than it may.
  func overLimit(_ push: ParsedPush, of provider: Int, _ limit: Int64) -> Refusal {
    var refusal = Refusal(
      reason: .tooManyRequests, field: "authorization",
      detail: "the key \(rules.providers[provider].keyID) may send \(limit) requests a second here (requestsPerSecond of providers)")
    (refusal.id, refusal.token, refusal.type, refusal.topic) = (push.id, push.token, push.type, push.topic)
    return refusal
  }
}
