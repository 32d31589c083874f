import Primitives

/// How often a client may have streams ended before their time, by its own RST_STREAM or by breaking the rules of RFC 9113
/// section 8: a burst, and then so many a second (rapid reset, CVE-2023-44487).
///
/// nghttp2's own limit counts every RST_STREAM, those for streams that are over too: curl 7.88 sends one after each answer
/// without a body, and would lose its connection after a thousand pushes.
struct ResetRate {
  private let interval: TimeSpan
  private let slack: TimeSpan
  private var due = Instant.distantPast

  /// `burst` resets at once, and `perSecond` more each second; both at least 1.
  init(burst: Int, perSecond: Int) {
    precondition(burst > 0 && perSecond > 0)
    interval = TimeSpan(nanoseconds: 1_000_000_000 / Int64(perSecond))
    slack = TimeSpan(nanoseconds: interval.nanoseconds * Int64(burst - 1))
  }

  /// Counts a reset; false when it is one too many.
  mutating func allows(at now: Instant) -> Bool {
    let start = max(due, now)
    guard start - now <= slack else { return false }
    due = start + interval
    return true
  }
}
