public import Primitives

/// The part of each day in which a person sleeps, so that nothing is reloaded: from one minute of the day to another, in UTC.
public struct QuietHours: Hashable, Sendable {
  /// The first quiet minute of the day, 0 to 1439, in UTC.
  public let from: UInt16
  /// The first minute that is not quiet any more, 0 to 1439, in UTC; another than `from`. It may lie before it, and then is the next day's.
  public let to: UInt16

  /// Quiet between two minutes of the day in UTC; nil when one is none, or when both are the same.
  public init?(from: UInt16, to: UInt16) {
    guard from < Self.day, to < Self.day, from != to else { return nil }
    self.from = from
    self.to = to
  }

  /// Quiet between two minutes of the local day, `utcOffset` minutes ahead of UTC.
  public init?(localFrom from: Int, to: Int, utcOffset: Int) {
    func utc(_ minute: Int) -> UInt16 { UInt16(((minute - utcOffset) % Self.day + Self.day) % Self.day) }
    guard (0..<Self.day).contains(from), (0..<Self.day).contains(to) else { return nil }
    self.init(from: utc(from), to: utc(to))
  }

  /// The instant itself when it is not quiet, else when the quiet hours around it end.
  public func end(around instant: Instant) -> Instant {
    let minute: Int64 = 60_000_000_000
    let day = Int64(Self.day) * minute
    let ofDay = (instant.nanoseconds % day + day) % day
    let since = (ofDay - Int64(from) * minute + day) % day
    let length = (Int64(to) - Int64(from) + Int64(Self.day)) % Int64(Self.day) * minute
    return since < length ? instant + TimeSpan(nanoseconds: length - since) : instant
  }

  private static let day = 1440
}
