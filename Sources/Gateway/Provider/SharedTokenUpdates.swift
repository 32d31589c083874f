import Primitives
import Push
import Rules
import Synchronization

/// The new provider tokens of all loops, by address and key; asked only when a connection brings another token than its last.
final class SharedTokenUpdates: ProviderTokenUpdates, Sendable {
  private let table = Mutex(TokenUpdateTable(capacity: Limits.providerTokenSources))

  func note(_ token: UInt64, source: UInt64, provider: UInt64, now: Instant, keeps: Bool) -> Bool {
    table.withLock { $0.note(token, source: source, provider: provider, now: now, keeps: keeps) }
  }
}
