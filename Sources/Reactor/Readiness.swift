import CLinux

/// What became ready on a descriptor since it was last reported.
public struct Readiness: OptionSet, Sendable {
  /// The bits as epoll reports them.
  public let rawValue: UInt32

  /// The set with the bits of `rawValue`.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Bytes, a connection, or the peer's end of stream can be read.
  public static let read = Readiness(rawValue: EPOLLIN.rawValue)
  /// The peer sends no more: there is an end of stream behind the last bytes, which is told this once only.
  public static let ended = Readiness(rawValue: EPOLLRDHUP.rawValue)
  /// The send buffer has room again, or a connection attempt has ended.
  public static let write = Readiness(rawValue: EPOLLOUT.rawValue)
  /// The connection is gone, or failed.
  public static let hangup = Readiness(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)

  /// Whether reading is worth a try: a hang-up is seen, with its cause, by reading.
  public var wantsRead: Bool { !isDisjoint(with: [.read, .ended, .hangup]) }
  /// Whether writing is worth a try.
  public var wantsWrite: Bool { !isDisjoint(with: [.write, .hangup]) }
}

/// What a loop calls when a descriptor it watches becomes ready.
public protocol ReadinessHandler: AnyObject {
  /// Runs on the loop's thread. Readiness is told once: read or write until the call would block, or ask
  /// the loop to come back with `EventLoop.resume(_:)`.
  func ready(_ readiness: Readiness)

  /// The turn that `EventLoop.resume(_:)` asked for.
  func turn()
}

extension ReadinessHandler {
  /// Reads.
  public func turn() { ready(.read) }
}
