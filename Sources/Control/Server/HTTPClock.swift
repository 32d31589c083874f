import Primitives
import Reactor

/// The value of `date` fields, made once a second. Belongs to its loop.
final class HTTPClock {
  let loop: EventLoop
  private var second = Int64.min
  private var text = ""

  init(_ loop: EventLoop) { self.loop = loop }

  /// The date of this round.
  var date: String {
    let second = loop.realNow.unixSeconds
    if second != self.second {
      self.second = second
      text = loop.realNow.httpDate
    }
    return text
  }
}
