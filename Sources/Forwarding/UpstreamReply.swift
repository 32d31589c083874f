package import Delivery
package import HTTP2
import JSON
package import Primitives
import Push

extension UpstreamAnswer {
  /// Reads what an upstream answered to one push; `detail` becomes what a mock device had to say.
  ///
  /// A 200 costs no allocation. An error's body is parsed; one that is not Apple's JSON has a status and no reason.
  package init(_ answer: Answer, detail: inout ByteRange) {
    self.init(status: answer.status)
    if let header = answer.value(of: .widgetpushOutcome) { detail = readOutcome(header) }
    guard answer.status != 200 else { return }
    guard let body = try? JSONValue.parse(answer.body), let object = body.objectValue else { return }
    reason = object["reason"]?.stringValue.flatMap { Reason($0) }
    timestamp = object["timestamp"]?.intValue.map { Instant(unixMilliseconds: Int64($0)) }
  }
}
