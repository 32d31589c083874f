import Control
import Synchronization

/// The access tokens of a state folder as they are at the moment, for a server that runs: `access new` and `access revoke` hold
/// for the next request.
///
/// Safe to use from any thread. The file is read only when it has changed; one that is damaged changes nothing.
final class LiveAccessTokens: Sendable {
  private struct Known {
    var stamp: Files.Stamp?
    var tokens: AccessTokens
  }

  private let folder: StateFolder
  private let complain: @Sendable (String) -> Void
  private let known: Mutex<Known>

  /// The tokens of `folder`.
  ///
  /// - Parameter complain: Told of a file that cannot be read later on.
  /// - Throws: `CommandError` when it is damaged now: nobody would get in, and nothing would say why.
  init(_ folder: StateFolder, complain: @escaping @Sendable (String) -> Void) throws(CommandError) {
    self.folder = folder
    self.complain = complain
    known = Mutex(Known(stamp: Files.stamp(folder.file(AccessFile.name)), tokens: try Self.read(folder)))
  }

  private static func read(_ folder: StateFolder) throws(CommandError) -> AccessTokens {
    AccessTokens(try AccessFile(in: folder).tokens.map { AccessToken($0) })
  }

  /// The tokens as of now.
  var current: AccessTokens {
    let stamp = Files.stamp(folder.file(AccessFile.name))
    return known.withLock { known in
      guard stamp != known.stamp else { return known.tokens }
      known.stamp = stamp
      do throws(CommandError) {
        known.tokens = try Self.read(folder)
      } catch {
        complain("\(error)")
      }
      return known.tokens
    }
  }
}
