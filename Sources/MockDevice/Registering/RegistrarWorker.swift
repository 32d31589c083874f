import DeviceModel
import HTTPClient
import Primitives
import Push
import Reactor
import Telemetry

/// The registrar's state on its own loop.
final class RegistrarWorker {
  private let gateway: GatewayFinder
  /// The gateway of the last call; what is found elsewhere gets a connection of its own.
  private var access: GatewayAccess?
  /// Open while there is something to tell or to ask, and a moment longer: an idle connection would hold up a gateway that wants to stop,
  /// and a new one for each of many questions cost both a handshake.
  private var client: BlockingHTTPClient?
  private var used = Uptime(nanoseconds: .min)
  private let listeners: Registrar.Listeners
  private let log: Log
  private unowned let loop: EventLoop
  private var queue: RegistrationQueue
  private var link = GatewayLink()
  /// When to look next for a gateway that is not there, unless a call finds it before; nil while it is there.
  private var nextLook: (due: Uptime, delay: TimeSpan)?
  private var timer: Timer?

  private static let firstDelay = TimeSpan.milliseconds(Limits.registerRetryMilliseconds.first)
  private static let longestDelay = TimeSpan.milliseconds(Limits.registerRetryMilliseconds.longest)

  init(_ gateway: GatewayFinder, on loop: EventLoop, log: Log, _ listeners: Registrar.Listeners) {
    self.gateway = gateway
    self.loop = loop
    self.log = log
    self.listeners = listeners
    queue = RegistrationQueue(retry: (Self.firstDelay, Self.longestDelay))
    timer = loop.makeTimer {}
  }

  func add(_ effect: DeviceEffect) { queue.add(effect) }

  /// Makes one call, so that the mailbox is looked at between calls, and sees to it that the loop comes back for the next.
  func work() {
    if let effect = queue.next(at: loop.uptime) {
      let (outcome, channel, message) = call(effect)
      let verdict = queue.finish(effect, outcome, at: .read())
      listeners.report(Registrar.Report(effect: effect, verdict: verdict, channel: channel, message: message))
    } else if let nextLook, loop.uptime >= nextLook.due {
      look(delay: nextLook.delay)
    }
    if let due = [queue.due, nextLook?.due].compactMap(\.self).min() {
      timer?.arm(at: due)
    } else if client != nil {
      let close = used + .milliseconds(Limits.registrarIdleMilliseconds)
      if Uptime.read() >= close { client = nil } else { timer?.arm(at: close) }
    }
  }

  /// Looks for the gateway, unless a call has found it already, or has found that it is not there.
  func search() {
    if link.isToBeLookedFor, nextLook == nil { look(delay: Self.firstDelay) }
  }

  func answer(_ question: Registrar.Question) -> Registrar.Answered {
    switch question {
    case .registration(let token):
      let answer: Registrar.Answer
      switch perform({ RegistrationCall.question(token, $0) }) {
      case .response(let response): answer = RegistrationCall.answer(about: token, status: response.status, body: response.body)
      case .unreachable(let failure, let why): answer = .silence(Self.silence(failure, why))
      }
      if case .silence(let silence) = answer { note(.unwilling(silence.why), unlessLost: true) } else { note(.told) }
      return .registration(token, answer)
    case .schemas(let bundleID):
      let answer: Registrar.SchemaAnswer
      switch perform({ RegistrationCall.question(schemasOf: bundleID, $0) }) {
      case .response(let response): answer = RegistrationCall.schemas(status: response.status, body: response.body)
      case .unreachable(let failure, let why): answer = .silence(Self.silence(failure, why))
      }
      if case .silence(let silence) = answer { note(.unwilling(silence.why), unlessLost: true) } else { note(.told) }
      return .schemas(bundleID: bundleID, answer)
    }
  }

  private static func silence(_ failure: BlockingHTTPClient.Failure?, _ why: String) -> Registrar.Silence {
    switch failure?.kind {
    case .timeout, .unknownHost, .unreachable: Registrar.Silence(why: why, costsTime: true)
    case .badRequest, .badTrust, .connectionRefused, .untrusted, .handshake, .connectionLost, .tooLarge, .malformed, nil:
      Registrar.Silence(why: why)
    }
  }

  private func call(_ effect: DeviceEffect) -> (RegistrationQueue.Outcome, ChannelCheck, Registrar.Message?) {
    switch perform({ RegistrationCall.request(effect, $0) }) {
    case .response(let response):
      let message = RegistrationCall.message(effect, status: response.status, id: response.field("apns-request-id"), body: response.body)
      let channel = RegistrationCall.channel(status: response.status, body: response.body)
      return (RegistrationCall.outcome(effect, status: response.status, body: response.body), channel, message)
    case .unreachable(let failure, let why):
      switch failure?.kind {
      case .badRequest, .badTrust: return (.refused(why), .unchecked, nil)
      case .unknownHost, .connectionRefused, .unreachable, .untrusted, .handshake, .timeout, .connectionLost, .tooLarge, .malformed, nil:
        return (.failed(why), .unchecked, nil)
      }
    }
  }

  private enum Response {
    case response(BlockingHTTPClient.Response)
    /// There is no answer, and the clause says why; without a failure there was nobody to ask.
    case unreachable(BlockingHTTPClient.Failure?, String)
  }

  /// Makes one call to wherever the gateway is now.
  private func perform(_ request: (GatewayAccess) -> BlockingHTTPClient.Request) -> Response {
    let access: GatewayAccess
    switch gateway.access() {
    case .failure(let unknown):
      (self.access, client) = (nil, nil)
      let why = "no gateway is known (\(unknown.why))"
      note(.unreachable(why))
      return .unreachable(nil, why)
    case .success(let found): access = found
    }
    if access != self.access { (self.access, client) = (access, nil) }
    used = .read()
    let client = client ?? BlockingHTTPClient(trust: access.trust)
    self.client = client
    do throws(BlockingHTTPClient.Failure) {
      let response = try client.perform(request(access))
      note(.reached)
      return .response(response)
    } catch {
      self.client = nil
      let why = "the gateway did not answer (\(error.message))"
      note(.unreachable(why))
      return .unreachable(error, why)
    }
  }

  private func look(delay: TimeSpan) {
    // Set before: a call that finds the gateway ends the search.
    nextLook = (.read() + delay, min(delay * 2, Self.longestDelay))
    _ = perform(RegistrationCall.look)
    nextLook?.due = .read() + delay
  }

  /// - Parameter unlessLost: A gateway that could not be reached has been noted as such.
  private func note(_ finding: GatewayLink.Finding, unlessLost: Bool = false) {
    if unlessLost, link.isToBeLookedFor { return }
    let change = link.note(finding)
    if !link.isToBeLookedFor { nextLook = nil }
    guard let change else { return }
    change.write(to: log, url: access?.url)
    switch change {
    case .lost(let why):
      if nextLook == nil { nextLook = (.read() + Self.firstDelay, Self.firstDelay * 2) }
      listeners.silence(why)
    case .refuses(let why): listeners.silence(why)
    case .restored:
      queue.endPause()
      listeners.silence(nil)
    }
  }
}
