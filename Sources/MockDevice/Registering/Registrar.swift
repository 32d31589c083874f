import DeviceModel
import HTTPClient
import JSON
import Primitives
import Push
import Reactor

/// Carries out what apps on the devices ask of the gateway, on a thread of its own, since each call blocks.
///
/// The thread runs a loop whose one mailbox brings effects and whose one timer waits out a gateway that is not there yet: a device that
/// starts before its gateway registers its tokens as soon as the gateway is up. Another mailbox brings tokens that somebody else has
/// registered there, and that the gateway is asked about.
final class Registrar: Sendable {
  /// What became of a call.
  struct Report: Sendable {
    let effect: DeviceEffect
    let verdict: RegistrationQueue.Verdict
    /// What the gateway had stored of the channel that it was asked for.
    var message: Message?
  }

  /// What the gateway says of a token.
  enum Answer: Sendable {
    case registered(Registration)
    /// It does not know it.
    case notRegistered
    /// It cannot be reached in time, or does not tell.
    case silence
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
    /// Nil where the gateway cannot be reached in time, or does not tell.
    case schemas(bundleID: String, [ActivitySchemas]?)
  }

  /// The most recent message of a channel.
  struct Message: Sendable {
    let id: PushID
    let payload: [UInt8]
  }

  private let mailbox: Mailbox<DeviceEffect>
  private let questions: Mailbox<Question>
  private let handle: LoopHandle

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - report: Takes what became of each call, on the registrar's thread.
  ///   - answer: Takes what the gateway says of what it was asked.
  init(
    _ gateway: GatewayAccess, report: @escaping @Sendable (Report) -> Void,
    answer: @escaping @Sendable (Answered) -> Void
  ) throws(SystemError) {
    let loop = try EventLoop(descriptors: 1, clock: { Instant(nanoseconds: 0) })
    let worker = RegistrarWorker(gateway, on: loop, report: report)
    mailbox = loop.makeMailbox(capacity: Limits.deviceTokens) { effect in worker.add(effect) }
    questions = loop.makeMailbox(capacity: Limits.heldPushes) { question in answer(worker.answer(question)) }
    handle = loop.handle
    loop.atEveryRoundEnd { worker.work() }
    try Thread.start(name: "registrar") { loop.run() }
  }

  /// Takes an effect; false when there is no room.
  func carryOut(_ effect: DeviceEffect) -> Bool { mailbox.post(effect) }

  /// Asks the gateway; false when there is no room.
  func ask(_ question: Question) -> Bool { questions.post(question) }

  /// Ends the thread after the call it is in.
  func stop() { handle.stop() }
}

/// The registrar's state on its own loop.
private final class RegistrarWorker {
  private let gateway: GatewayAccess
  /// Open while there is something to tell or to ask, and a moment longer: an idle connection would hold up a gateway that wants to stop,
  /// and a new one for each of many questions cost both a handshake.
  private var client: BlockingHTTPClient?
  private var used = Uptime(nanoseconds: .min)
  private let report: @Sendable (Registrar.Report) -> Void
  private unowned let loop: EventLoop
  private var queue: RegistrationQueue
  private var timer: Timer?

  init(_ gateway: GatewayAccess, on loop: EventLoop, report: @escaping @Sendable (Registrar.Report) -> Void) {
    self.gateway = gateway
    self.loop = loop
    self.report = report
    let retry = Limits.registerRetryMilliseconds
    queue = RegistrationQueue(retry: (.milliseconds(retry.first), .milliseconds(retry.longest)))
    timer = loop.makeTimer {}
  }

  func add(_ effect: DeviceEffect) { queue.add(effect) }

  /// Makes one call, so that the mailbox is looked at between calls, and sees to it that the loop comes back for the next.
  func work() {
    if let effect = queue.next(at: loop.uptime) {
      let (outcome, message) = call(effect)
      report(Registrar.Report(effect: effect, verdict: queue.finish(effect, outcome, at: .read()), message: message))
    }
    if let due = queue.due {
      timer?.arm(at: due)
    } else if client != nil {
      let close = used + .milliseconds(Limits.registrarIdleMilliseconds)
      if Uptime.read() >= close { client = nil } else { timer?.arm(at: close) }
    }
  }

  /// The connection, for one more call.
  private func open() -> BlockingHTTPClient {
    used = .read()
    let client = client ?? BlockingHTTPClient(trust: gateway.trust)
    self.client = client
    return client
  }

  func answer(_ question: Registrar.Question) -> Registrar.Answered {
    switch question {
    case .registration(let token): return .registration(token, answer(about: token))
    case .schemas(let bundleID):
      let response = try? open().perform(RegistrationCall.question(schemasOf: bundleID, gateway))
      return .schemas(bundleID: bundleID, response.flatMap { RegistrationCall.schemas(status: $0.status, body: $0.body) })
    }
  }

  /// What the gateway says of the token.
  private func answer(about token: DeviceToken) -> Registrar.Answer {
    let client = open()
    guard let response = try? client.perform(RegistrationCall.question(token, gateway)) else { return .silence }
    return RegistrationCall.answer(about: token, status: response.status, body: response.body)
  }

  private func call(_ effect: DeviceEffect) -> (RegistrationQueue.Outcome, Registrar.Message?) {
    let client = open()
    do throws(BlockingHTTPClient.Failure) {
      let response = try client.perform(RegistrationCall.request(effect, gateway))
      let message = RegistrationCall.message(effect, status: response.status, id: response.field("apns-request-id"), body: response.body)
      return (RegistrationCall.outcome(effect, status: response.status, body: response.body), message)
    } catch {
      switch error.kind {
      case .badRequest, .badTrust: return (.refused(error.message), nil)
      case .unknownHost, .connectionRefused, .unreachable, .untrusted, .handshake, .timeout, .connectionLost, .tooLarge, .malformed:
        return (.failed(error.message), nil)
      }
    }
  }
}
