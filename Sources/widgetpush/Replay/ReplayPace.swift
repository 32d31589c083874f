import Primitives

/// How fast a recording is played.
enum ReplayPace: Hashable {
  /// One push after another, without a pause.
  case unpaced
  /// So many times as fast as it was recorded.
  case times(Double)

  /// The pace that `text` spells: `max`, or a number.
  init?(text: String) {
    if text == "max" {
      self = .unpaced
    } else if let factor = Double(text), factor >= 0.001, factor <= 1_000_000 {
      self = .times(factor)
    } else {
      return nil
    }
  }

  /// How long after the replay's start that is sent which came so long after the recording's.
  func delay(_ span: TimeSpan) -> TimeSpan {
    switch self {
    case .unpaced: .zero
    case .times(let factor): TimeSpan(nanoseconds: Int64(min(Double(Int64.max / 2), Double(span.nanoseconds) / factor)))
    }
  }
}

/// Where the product's time has to be for a recording that began at `start`.
enum ReplayTime {
  /// The first time from `now` on that lies whole seconds after `start`, which is what dates are in.
  ///
  /// - Parameter atTimeOfDay: Whether it is to be whole days: quiet hours go by the time of the day.
  static func beginning(from now: Instant, like start: Instant, atTimeOfDay: Bool) -> Instant {
    let unit = TimeSpan.seconds(atTimeOfDay ? 86_400 : 1)
    let units = (now - start).nanoseconds.floorDivide(unit.nanoseconds)
    let last = start + unit * units
    return last < now ? last + unit : last
  }
}
