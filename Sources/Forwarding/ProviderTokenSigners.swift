public import Security
import Synchronization

/// The gateway's own keys by number. It only grows: a number that a push was given, perhaps long ago, always means the same key,
/// although the configuration has changed since.
///
/// Safe to use from any thread.
public final class ProviderTokenSigners: Sendable {
  private let signers: Mutex<[ProviderTokenSigner]>

  /// These signers, at least one, numbered from 0.
  public init(_ signers: [ProviderTokenSigner]) {
    precondition(!signers.isEmpty)
    self.signers = Mutex(signers)
  }

  /// Every signer there ever was.
  public var all: [ProviderTokenSigner] { signers.withLock { $0 } }

  /// The number of the next signer, which is `signer`.
  public func add(_ signer: ProviderTokenSigner) -> Int {
    signers.withLock { signers in
      signers.append(signer)
      return signers.count - 1
    }
  }
}
