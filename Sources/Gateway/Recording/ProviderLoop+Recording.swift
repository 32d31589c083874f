import HTTP2
import Primitives
import Push
import Rules
import Storage
import Transport

// Requests on their way to those who record; while nobody does, none of this runs.
extension ProviderLoop {
  /// The request as a recording has it.
  ///
  /// - Parameter defaultTopic: The topic of the client's certificate, where the request names none.
  func recorded(_ exchange: Exchange, id: PushID, defaultTopic: [UInt8]? = nil) -> RecordedPush {
    var fields: [RecordedPush.Field] = []
    for index in 0..<exchange.fieldCount {
      let name = exchange.name(ofField: index).string
      // Neither who sent it, nor what HTTP itself needs.
      if name.hasPrefix("apns-") { fields.append(RecordedPush.Field(name, exchange.value(ofField: index).string)) }
    }
    if let defaultTopic { fields.append(RecordedPush.Field("apns-topic", String(decoding: defaultTopic, as: UTF8.self))) }
    return RecordedPush(
      id: id, sent: time.sender, method: exchange.value(of: .method)?.string ?? "POST", path: exchange.value(of: .path)?.string ?? "",
      fields: fields, payload: exchange.body.array)
  }

  /// Tells those who record of a request that the rules have refused.
  func record(_ refusal: Refusal, _ exchange: Exchange, id: PushID) {
    recordings.take(recorded(exchange, id: id), bundleID: meantApp(refusal, exchange).bundleID, at: exchange.received)
  }
}
