import Control
import Faults
import Forwarding
import Rules
import Security
import Storage

/// What the data paths of all loops share.
struct ProviderShared: Sendable {
  let store: Store
  /// Rules and keys, which may be replaced while the loops run.
  let settings: CurrentSettings
  /// The new provider tokens of all loops.
  let tokenUpdates = SharedTokenUpdates()
  /// A secret by which provider tokens and addresses are hashed on all loops.
  let seed: UInt64
  /// Streams that a client may open before its first provider token is verified, and again after one that is refused.
  let initialConcurrentStreams: Int
  /// The upstreams, in the order in which the store's resolver numbers them.
  let upstreams: [Upstream]
  /// The gateway's own keys.
  let signers: ProviderTokenSigners
  let faults: FaultBook
  /// Those who record what comes.
  let recordings: RecordingDesk
  let metrics: GatewayMetrics
  let conditions: GatewayConditions
  /// The product's clock, and which clocks senders and their provider tokens go by.
  let clock: ClockDriver
  /// Whether every answer explains itself, not only those whose request asks for it.
  let explainsAlways: Bool
  let observer: (@Sendable (GatewayEvent) -> Void)?
}
