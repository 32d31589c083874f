/// A body that is written bit by bit for as long as there is something to say, such as server-sent events.
public struct BodyStream: Sendable {
  /// Writes it, and returns when it is whole.
  public let run: @Sendable (BodyWriter) async -> Void

  /// A body that `run` writes; it ends when that returns. Its task is cancelled when the client goes away or the server drains.
  public init(_ run: @escaping @Sendable (BodyWriter) async -> Void) { self.run = run }
}

/// The way for a `BodyStream` to its client.
public struct BodyWriter: Sendable {
  /// What became of a write.
  public enum Outcome: Sendable {
    /// The bytes are on their way.
    case taken
    /// Nothing was taken: so much waits for the client already that it has to read first. Try again after a while.
    case full
    /// The client is gone.
    case gone
  }

  private let send: @Sendable ([UInt8]) async -> Outcome

  /// A writer that hands bytes to `send`.
  public init(_ send: @escaping @Sendable ([UInt8]) async -> Outcome) { self.send = send }

  /// Writes some more of the body, at most `Limits.streamedBytes` at once.
  public func write(_ bytes: [UInt8]) async -> Outcome { await send(bytes) }
}
