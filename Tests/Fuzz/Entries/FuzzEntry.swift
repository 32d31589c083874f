/// A way into the product for bytes from outside. Whatever the bytes are, nothing may trap, overrun memory, or be left behind.
public enum FuzzEntry: String, CaseIterable, Sendable {
  /// A client's HTTP/2 bytes: the session, and the rules for each whole request.
  case requests
  /// The `authorization` of a push.
  case tokens
  /// The body of a push, judged strictly and as Apple does.
  case payloads
  /// The body of a registration.
  case registrations
  /// A line of a recording.
  case recordings
  /// A configuration file, of a gateway and of a device.
  case configurations
  /// An upstream's HTTP/2 bytes: the forwarder's session, and what its answers mean.
  case answers

  /// Feeds `input` to the entry; returns when everything of it is over.
  public func run(_ input: [UInt8]) {
    switch self {
    case .requests: RequestEntry.run(input)
    case .tokens: RuleEntries.token(input)
    case .payloads: RuleEntries.payload(input)
    case .registrations: ControlEntries.registration(input)
    case .recordings: ControlEntries.recording(input)
    case .configurations: ControlEntries.configuration(input)
    case .answers: AnswerEntry.run(input)
    }
  }
}
