public import Primitives

/// How often a client may do what costs us something and brings nobody anything: a burst, and then so many times a second.
///
/// Two of them watch each server session. One counts streams that end before their time, by the client's own RST_STREAM or because
/// it breaks the rules of RFC 9113 section 8 (rapid reset, CVE-2023-44487; made-you-reset, CVE-2025-8671). nghttp2's own limit counts
/// every RST_STREAM, those for streams that are over too: curl 7.88 sends one after each answer without a body, and would lose its
/// connection after a thousand pushes. The other counts frames that bring nothing (`FrameMeter`).
public struct EventRate: Sendable {
  private let interval: TimeSpan
  private let slack: TimeSpan
  private var due = Instant.distantPast

  /// `burst` times at once, and `perSecond` more each second; both at least 1.
  public init(burst: Int, perSecond: Int) {
    precondition(burst > 0 && perSecond > 0)
    interval = TimeSpan(nanoseconds: 1_000_000_000 / Int64(perSecond))
    slack = TimeSpan(nanoseconds: interval.nanoseconds * Int64(burst - 1))
  }

  /// Counts `count` times at once; false when the rate was used up before.
  public mutating func allows(_ count: Int = 1, at now: Instant) -> Bool {
    let start = max(due, now)
    guard start - now <= slack else { return false }
    due = start + TimeSpan(nanoseconds: interval.nanoseconds * Int64(count))
    return true
  }

  /// Takes `count` of those that were counted off again; what was never counted is no credit.
  mutating func giveBack(_ count: Int, at now: Instant) {
    guard due > now else { return }
    due = due - TimeSpan(nanoseconds: interval.nanoseconds * Int64(count))
  }
}
