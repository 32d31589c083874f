import Primitives
import Push
import Synchronization

/// How many requests a second each provider may send, all loops together; a provider without a limit costs one look-up.
///
/// Safe to use from any thread: each limit is one atomic instant, at which a full second's worth would be there again.
final class ProviderRates: Sendable {
  private let rates: [Rate?]

  private final class Rate: Sendable {
    let perSecond: Int64
    /// Nanoseconds that one request costs.
    let cost: Int64
    let full = Atomic<Int64>(Int64.min)

    init(_ perSecond: Int64) {
      self.perSecond = perSecond
      cost = max(1, 1_000_000_000 / perSecond)
    }
  }

  /// The limits by the index of the provider; nil has none.
  init(_ limits: [Int64?]) { rates = limits.map { $0.map { Rate($0) } } }

  /// The limit that stands in the way of a request of `provider`, in requests a second; nil counts the request and lets it go.
  ///
  /// No window of a second sees more than twice the limit, and no longer time more than the limit and one second's worth.
  func exceeded(_ provider: Int, at now: Instant) -> Int64? {
    guard let rate = rates[provider] else { return nil }
    let now = now.nanoseconds
    var known = rate.full.load(ordering: .relaxed)
    while true {
      let next = max(known, now) + rate.cost
      guard next - now <= 1_000_000_000 || rate.perSecond == 1 && known <= now else { return rate.perSecond }
      let (exchanged, original) = rate.full.compareExchange(expected: known, desired: next, ordering: .relaxed)
      if exchanged { return nil }
      known = original
    }
  }
}
