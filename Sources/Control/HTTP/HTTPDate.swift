import Primitives

extension Instant {
  /// The instant as HTTP writes dates, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
  var httpDate: String {
    // The RFC 3339 text has every number in a fixed place.
    let text = Array(description.utf8)
    func part(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let days = unixSeconds.floorDivide(86_400)
    let weekday = weekdays[Int(days - days.floorDivide(7) * 7)]
    return "\(weekday), \(part(8..<10)) \(months[Int(part(5..<7))! - 1]) \(part(0..<4)) \(part(11..<19)) GMT"
  }
}
