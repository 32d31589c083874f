import HTTP2
import Primitives
import Push
import Rules

/// Writes the answers of the provider API, in Apple's own form (apns.md section 5.1); memory is allocated once.
///
/// 200 is one HEADERS frame with `apns-id` and, in the development environment, `apns-unique-id`; an error is HEADERS and one
/// DATA frame. Only a request that asks with `widgetpush-explain: 1` gets more.
struct AnswerWriter: ~Copyable {
  private var fields = FieldList()
  private var body = InlineArray<1024, UInt8>(repeating: 0)

  /// The ids of one answer.
  struct IDs {
    /// The `apns-id`.
    var id: PushID
    /// The `apns-unique-id`; nil outside of the development environment.
    var uniqueID: PushID?
    /// What stands as `apns-id` where the request's own is none.
    var malformed = ProviderAnswers.RefusedMessageID.generate
  }

  /// Answers 200; `explanation` is for a request that asked for one.
  mutating func accept(_ exchange: Exchange, _ ids: IDs, explanation: (disposition: Disposition, detail: String)?) {
    begin(ids, exchange)
    if let explanation { explain(explanation.disposition, detail: explanation.detail) }
    exchange.respond(status: 200, fields)
  }

  /// Answers with an error. `detail` is on the wire with `BadPayload`, and where the request asked for explanations.
  mutating func refuse(
    _ exchange: Exchange, _ ids: IDs, _ reason: Reason, since: Instant? = nil, detail: String = "", retryAfterSeconds: Int64? = nil,
    explaining: Bool
  ) {
    begin(ids, exchange)
    if explaining { explain(.refused, detail: detail) }
    if let retryAfterSeconds {
      let digits = Array(String(retryAfterSeconds).utf8)
      unsafe fields.append(.retryAfter, digits.span.bytes)
    }
    respond(exchange, status: reason.status, reason, since: since, detail: detail)
  }

  /// Answers what an upstream has answered; `reason` is nil where its body named none that Apple lists.
  mutating func pass(_ exchange: Exchange, _ ids: IDs, status: Int, _ reason: Reason?, since: Instant?, explanation: (Disposition, String)?)
  {
    begin(ids, exchange)
    if let explanation { explain(explanation.0, detail: explanation.1) }
    guard let reason else {
      exchange.respond(status: status, fields)
      return
    }
    respond(exchange, status: status, reason, since: since, detail: "")
  }

  private mutating func respond(_ exchange: Exchange, status: Int, _ reason: Reason, since: Instant?, detail: String) {
    var span = body.mutableSpan
    let count = unsafe span.withUnsafeMutableBytes { buffer in
      var output = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
      ErrorBody.append(reason, since: since, detail: detail, to: &output)
      return unsafe output.finalize(for: buffer)
    }
    unsafe exchange.respond(status: status, fields, body: body.span.bytes.extracting(0..<count))
  }

  private mutating func begin(_ ids: IDs, _ exchange: Exchange) {
    fields.removeAll()
    switch ids.malformed {
    case .generate: fields.append(.apnsID, bytesMax: PushID.textCount) { ids.id.write(to: &$0) }
    case .echo: if let sent = exchange.value(of: .apnsID) { fields.append(.apnsID, sent) }
    case .omit: break
    }
    if let uniqueID = ids.uniqueID { fields.append(.apnsUniqueID, bytesMax: PushID.textCount) { uniqueID.write(to: &$0) } }
  }

  private mutating func explain(_ disposition: Disposition, detail: String) {
    let name = Array(disposition.name.utf8)
    unsafe fields.append(.widgetpushDisposition, name.span.bytes)
    let text = Self.fieldValue(detail)
    guard !text.isEmpty else { return }
    unsafe fields.append(.widgetpushDetail, text.span.bytes)
  }

  /// A detail as a field value: printable ASCII, at most 400 bytes, with no space at either end (RFC 9110 section 5.5).
  static func fieldValue(_ text: String) -> [UInt8] {
    let scalars = text.unicodeScalars.drop { $0 == " " }.prefix(400)
    var bytes = scalars.map { $0.value >= 0x20 && $0.value < 0x7F ? UInt8($0.value) : UInt8(ascii: "?") }
    while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
    return bytes
  }
}
