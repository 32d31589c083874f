import Rules
import Security
import Synchronization

/// What the data path of every loop goes by until it is replaced as a whole.
struct ProviderSettings: Sendable {
  /// The rules for requests.
  var rules: RequestRules
  /// The public keys of the rules' providers, in their order.
  var keys: [P256PublicKey]
  /// How much each provider may send.
  var rates: ProviderRates
  /// What new connections are encrypted with.
  var tls: TLSContext
  /// What new connections to each upstream are trusted by.
  var upstreamTLS: [TLSContext]
}

/// The settings of the moment, for loops that are told only that there are new ones: however many orders are lost or come late,
/// each finds the newest.
final class CurrentSettings: Sendable {
  private let settings: Mutex<ProviderSettings>

  /// The first settings.
  init(_ settings: ProviderSettings) { self.settings = Mutex(settings) }

  /// The newest.
  var value: ProviderSettings {
    get { settings.withLock { $0 } }
    set { settings.withLock { $0 = newValue } }
  }
}
