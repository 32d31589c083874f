public import HTTP2

/// Who sends requests by an `HTTP2Client`, on the loop's thread.
public protocol HTTP2ClientDelegate: AnyObject {
  /// Requests may be sent, or more of them than before: send while `HTTP2Client.availableStreams` allows. Called after the
  /// server's first SETTINGS, and after every turn that brought something.
  func clientMaySend(_ client: HTTP2Client)

  /// Requests may have got their answers: take them with `HTTP2Client.takeAnswer()` until there is none; what is left is
  /// lost. Every request that was sent gets exactly one: a response, or a failure, of which `.cancelled` means that none came
  /// within `HTTP2Client.Configuration.answerTimeout`.
  func clientMayHaveAnswers(_ client: HTTP2Client)

  /// The server takes no further requests; those it excludes have failed as `unprocessed`, the others are still answered.
  func client(_ client: HTTP2Client, isGoingAway goAway: PeerGoAway)

  /// The connection is over, or never came about; every request has had its answer before.
  func client(_ client: HTTP2Client, ended end: ConnectionEnd)
}
