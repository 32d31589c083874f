import HTTP2
import Primitives
import ProviderAPI
import Push
import Rules
import Storage

// What an accepted push's warnings are about: made when it is admitted, kept with it, and told once the store has taken it in.
extension ProviderLoop {
  /// The details of a push's warnings, as the log keeps them.
  func warningDetails(of push: ParsedPush, _ exchange: Exchange) -> String {
    WarningDetail.text(
      of: rules.details(
        of: push, RequestFields(exchange), headers: exchange.headerBytes, body: exchange.body, now: time.sender))
  }

  /// The same of a broadcast.
  func warningDetails(of push: BroadcastPush, _ exchange: Exchange) -> [WarningDetail] {
    rules.details(of: push, RequestFields(exchange), headers: exchange.headerBytes, body: exchange.body, now: time.sender)
  }

  /// Tells who watches what the warnings of a push are about that was taken in.
  ///
  /// - Parameter bytes: Where the operation's ranges lie.
  @inline(__always) func tellWarnings(of operation: AdmitOperation, _ bytes: RawSpan) {
    guard !operation.warningDetails.isEmpty, let observer else { return }
    observer(
      .warned(
        WarnedRequest(
          id: operation.id, token: operation.token, type: operation.type,
          details: WarningDetail.read(bytes[operation.warningDetails].string))))
  }

  /// The same of a broadcast.
  func tellWarnings(of id: PushID, _ details: [WarningDetail]) {
    guard !details.isEmpty, let observer else { return }
    observer(.warned(WarnedRequest(id: id, token: nil, type: .liveactivity, details: details)))
  }
}
