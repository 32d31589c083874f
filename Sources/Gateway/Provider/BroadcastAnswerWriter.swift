import HTTP2
import Primitives
import Push
import Rules

/// How requests about channels are answered where Apple's documentation and its servers leave it open.
struct BroadcastAnswerRules: Sendable {
  private let unknownRead: ProviderAnswers.UnknownChannelRead
  private let createdBody: ProviderAnswers.CreatedChannelBody

  init(_ answers: ProviderAnswers) {
    unknownRead = answers.unknownChannelRead
    createdBody = answers.createdChannelBody
  }

  /// What is answered where the store refuses with `reason`.
  func reason(_ reason: Reason, _ kind: ChannelReply.Kind) -> Reason {
    guard reason == .badChannelID || reason == .channelNotRegistered else { return reason }
    switch kind {
    case .delete: return .badPath
    case .read where unknownRead == .badPath: return .badPath
    case .read, .send, .create, .list: return reason
    }
  }

  /// Whether a client gets a body with a new channel; the library APNSwift decodes one, and fails without.
  func hasBody(userAgent: String) -> Bool {
    switch createdBody {
    case .never: false
    case .always: true
    case .auto: userAgent.lowercased().hasPrefix("apns/swift")
    }
  }
}

/// Writes the answers to requests about broadcasts and channels (apns.md section 8); memory is allocated once.
///
/// They have `apns-request-id` and no `apns-id`, and `content-type` wherever there is a body, as Apple documents for these paths; an
/// error is HEADERS and one DATA frame.
struct BroadcastAnswerWriter: ~Copyable {
  private var fields = FieldList()

  /// Answers with a status that is no error.
  ///
  /// - Parameters:
  ///   - unique: The `apns-unique-id` of a broadcast.
  ///   - channel: The `apns-channel-id` of a new channel.
  ///   - body: JSON; empty for none.
  mutating func answer(_ exchange: Exchange, _ status: Int, id: PushID, unique: PushID? = nil, channel: ChannelID? = nil, body: String = "")
  {
    begin(id, hasBody: !body.isEmpty)
    if let unique { fields.append(.apnsUniqueID, bytesMax: PushID.textCount) { unique.write(to: &$0) } }
    if let channel { append(.apnsChannelID, channel.description) }
    let bytes = Array(body.utf8)
    unsafe exchange.respond(status: status, fields, body: bytes.span.bytes)
  }

  /// Answers with an error. `detail` is on the wire with `BadPayload`, and where the request asked for explanations.
  mutating func refuse(_ exchange: Exchange, id: PushID, _ reason: Reason, detail: String, explaining: Bool) {
    begin(id, hasBody: true)
    if explaining {
      append(.widgetpushDisposition, Disposition.refused.name)
      append(.widgetpushDetail, String(decoding: AnswerWriter.fieldValue(detail), as: UTF8.self))
    }
    let body = unsafe [UInt8](unsafeUninitializedCapacity: Limits.errorBodyBytes) { buffer, count in
      var output = unsafe OutputRawSpan(buffer: UnsafeMutableRawBufferPointer(buffer), initializedCount: 0)
      ErrorBody.append(reason, detail: detail, to: &output)
      count = unsafe output.finalize(for: UnsafeMutableRawBufferPointer(buffer))
    }
    unsafe exchange.respond(status: reason.status, fields, body: body.span.bytes)
  }

  /// What a channel is.
  static func body(_ policy: MessageStoragePolicy) -> String {
    "{\"message-storage-policy\":\(policy.rawValue),\"push-type\":\"LiveActivity\"}"
  }

  /// All channels of an app.
  static func body(_ channels: [ChannelID]) -> String {
    "{\"channels\":[\(channels.map { "\"\($0)\"" }.joined(separator: ","))]}"
  }

  private mutating func begin(_ id: PushID, hasBody: Bool) {
    fields.removeAll()
    if hasBody { fields.append(.contentType, "application/json") }
    fields.append(.apnsRequestID, bytesMax: PushID.textCount) { id.write(to: &$0) }
  }

  private mutating func append(_ name: HeaderName, _ text: String) {
    let bytes = Array(text.utf8)
    unsafe fields.append(name, bytes.span.bytes)
  }
}
