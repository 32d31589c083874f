import DeviceModel
import JSON
import Primitives
import Push
import Reactor
import Telemetry

/// Carries out what apps on the devices ask of the gateway, on a thread of its own, since each call blocks.
///
/// The thread runs a loop whose one mailbox brings effects and whose one timer waits out a gateway that is not there yet: a device that
/// starts before its gateway registers its tokens as soon as the gateway is up. Another mailbox brings tokens that somebody else has
/// registered there, and that the gateway is asked about. While there is no gateway, it is looked for.
final class Registrar: Sendable {
  /// What became of a call.
  struct Report: Sendable {
    let effect: DeviceEffect
    let verdict: RegistrationQueue.Verdict
    /// What the gateway has said of the channel that it was asked for.
    var channel = ChannelCheck.unchecked
    /// What it had stored of it.
    var message: Message?
  }

  /// The gateway cannot be reached in time, or does not tell.
  struct Silence: Sendable {
    /// Why, as a clause such as `the gateway answered 403`.
    var why: String
    /// It let wait whoever asked, so that it is not asked again for a while; what fails at once may be tried with each push.
    var costsTime = false
  }

  /// What the gateway says of a token.
  enum Answer: Sendable {
    case registered(Registration)
    /// It does not know it.
    case notRegistered
    case silence(Silence)
  }

  /// What the gateway says of an app's schemas.
  enum SchemaAnswer: Sendable {
    case known([ActivitySchemas])
    case silence(Silence)
  }

  /// What the gateway may be asked.
  enum Question: Sendable {
    /// What a token was registered as.
    case registration(DeviceToken)
    /// What is known of an app's schemas.
    case schemas(bundleID: String)
  }

  /// A question with its answer.
  enum Answered: Sendable {
    case registration(DeviceToken, Answer)
    case schemas(bundleID: String, SchemaAnswer)
  }

  /// The most recent message of a channel.
  struct Message: Sendable {
    let id: PushID
    let payload: [UInt8]
  }

  /// Who is told of what comes of all this, on the registrar's thread.
  struct Listeners: Sendable {
    /// Takes what became of each call.
    var report: @Sendable (Report) -> Void
    /// Takes what the gateway says of what it was asked.
    var answer: @Sendable (Answered) -> Void
    /// Takes why the gateway cannot be asked, when that begins; nil when it is over.
    var silence: @Sendable (String?) -> Void
  }

  private let mailbox: Mailbox<DeviceEffect>
  private let questions: Mailbox<Question>
  private let searches: Mailbox<Void>
  private let handle: LoopHandle

  /// Starts the thread.
  init(_ gateway: GatewayFinder, log: Log, _ listeners: Listeners) throws(SystemError) {
    let loop = try EventLoop(descriptors: 1, clock: { Instant(nanoseconds: 0) })
    let worker = RegistrarWorker(gateway, on: loop, log: log, listeners)
    mailbox = loop.makeMailbox(capacity: Limits.deviceTokens) { effect in worker.add(effect) }
    questions = loop.makeMailbox(capacity: Limits.heldPushes) { question in listeners.answer(worker.answer(question)) }
    searches = loop.makeMailbox(capacity: 1) { worker.search() }
    handle = loop.handle
    loop.atEveryRoundEnd { worker.work() }
    try Thread.start(name: "registrar") { loop.run() }
  }

  /// Looks whether the gateway is there, so that it is said at the start when it is not.
  func search() { searches.post(()) }

  /// Takes an effect; false when there is no room.
  func carryOut(_ effect: DeviceEffect) -> Bool { mailbox.post(effect) }

  /// Asks the gateway; false when there is no room.
  func ask(_ question: Question) -> Bool { questions.post(question) }

  /// Ends the thread after the call it is in.
  func stop() { handle.stop() }
}
