import Gateway
import HTTPClient
import Primitives
import Push

/// Sends recorded pushes as a backend does, with provider tokens of its own, which it renews when they have become too old.
struct ReplaySender {
  private let folder: StateFolder
  private var client: ProviderClient

  /// A sender whose first token is signed at `now` by the clock that the server takes for its own.
  ///
  /// - Parameter isFresh: Whether that is not the machine's, so that no token fits which another command has signed.
  init(_ folder: StateFolder, now: Instant, isFresh: Bool) throws {
    self.folder = folder
    client = try ProviderClient(folder, now: now, isFresh: isFresh)
  }

  /// Sends `push` under an id of the gateway's making.
  mutating func send(_ push: RecordedPush, now: Instant) throws -> ProviderClient.Answer {
    let answer = try attempt(push)
    guard answer.reason == "ExpiredProviderToken" else { return answer }
    // The connection is of no use any more.
    client = try ProviderClient(folder, now: now, isFresh: true)
    return try attempt(push)
  }

  private func attempt(_ push: RecordedPush) throws(CommandError) -> ProviderClient.Answer {
    // An id that is one was another push's; one that is none was a mistake to be seen again.
    let fields = push.fields.filter { $0.name != "apns-id" || PushID($0.value) == nil }
    return try client.send(push.method, push.path, fields.map { .init($0.name, $0.value) }, push.payload)
  }
}
