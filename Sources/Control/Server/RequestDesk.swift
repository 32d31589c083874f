import Primitives
import Reactor
import Synchronization

/// Where an answer goes.
protocol RequestOwner: AnyObject {
  /// Takes the answer to request `stream` of this owner, on the loop, and keeps `entry` until that is sent.
  func answer(_ stream: UInt64, _ response: HTTPResponse, _ entry: AnswerLedger.Entry?)
  /// The connection that the request came by; nil when it is gone.
  func connection(of stream: UInt64) -> ObjectIdentifier?
  /// The request's access token was admitted.
  func admitted(_ stream: UInt64)
  /// Begins an answer whose body is written bit by bit; false when nobody waits for it any more.
  func begin(_ stream: UInt64, _ response: HTTPResponse) -> Bool
  /// Takes some more of that body.
  func write(_ stream: UInt64, _ bytes: [UInt8]) -> BodyWriter.Outcome
  /// The body is whole.
  func endBody(_ stream: UInt64)
}

/// The requests that handlers are working on: each in a task of its own, at most `capacity` of them.
///
/// A handler may take minutes (`wait=300s`); it then costs one place here and nothing else. When a client goes away its
/// task is cancelled, but the place is held until the task ends: work that ignores cancellation stays bounded too.
///
/// Belongs to its loop; tasks reach it through a mailbox.
final class RequestDesk {
  typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  private struct Place {
    var owner: (any RequestOwner)?
    let stream: UInt64
    var task: Task<Void, Never>?
  }

  private enum Message: Sendable {
    case admitted
    case answer(HTTPResponse, caller: String)
    case begin(HTTPResponse, PendingWrite)
    case write([UInt8], PendingWrite)
    case endBody
  }

  private let handler: Handler
  private let capacity: Int
  private let ledger: AnswerLedger
  private var places: Slab<Place>
  private var mailbox: Mailbox<(SlabKey, Message)>?

  init(on loop: EventLoop, capacity: Int, unread: AnswerLedger.Bounds = AnswerLedger.Bounds(), handler: @escaping Handler) {
    self.capacity = capacity
    ledger = AnswerLedger(unread)
    self.handler = handler
    places = Slab(capacity: capacity)
    // A task waits until what it posted was taken, so what waits never exceeds the places; each tells once that it was admitted.
    mailbox = loop.makeMailbox(capacity: 2 * capacity) { [weak self] place, message in self?.take(message, at: place) }
  }

  /// Requests in progress.
  var count: Int { places.count }

  /// Starts to answer a request; throws 503 when every place is taken.
  func open(_ request: HTTPRequest, for owner: any RequestOwner, stream: UInt64) throws(ControlError) -> SlabKey {
    guard let mailbox, let place = places.insert(Place(owner: owner, stream: stream)) else {
      throw .unavailable("\(capacity) requests are being answered, which is the most; try again in a second")
    }
    let handler = handler
    var request = request
    let caller = Caller { mailbox.post((place, .admitted)) }
    request.caller = caller
    let task = Task { [request] in
      let response = await handler(request)
      guard let body = response.stream, request.method != .head else {
        mailbox.post((place, .answer(response, caller: caller.name)))
        return
      }
      let hasBegun = await PendingWrite.outcome { mailbox.post((place, .begin(response, $0))) }
      if hasBegun == .taken {
        await body.run(BodyWriter { bytes in await PendingWrite.outcome { mailbox.post((place, .write(bytes, $0))) } })
      }
      mailbox.post((place, .endBody))
    }
    places.with(place) { $0.task = task }
    return place
  }

  /// Asks the handler to come to an end; its answer is still wanted.
  func hurry(_ place: SlabKey) { places[place]?.task?.cancel() }

  /// Asks every handler to come to an end.
  func hurryAll() { places.forEach { _, entry in entry.task?.cancel() } }

  /// Nobody waits for the answer any more.
  func abandon(_ place: SlabKey) {
    hurry(place)
    places.with(place) { $0.owner = nil }
  }

  private func take(_ message: Message, at place: SlabKey) {
    switch message {
    case .admitted:
      if let entry = places[place] { entry.owner?.admitted(entry.stream) }
    case .answer(let response, let caller):
      guard let entry = places.remove(place), let owner = entry.owner, let connection = owner.connection(of: entry.stream) else { return }
      do throws(ControlError) {
        let waiting = try ledger.enter(response.body.count, connection: connection, caller: caller)
        owner.answer(entry.stream, response, waiting)
      } catch {
        owner.answer(entry.stream, HTTPResponse(error), nil)
      }
    case .begin(let response, let pending):
      guard let entry = places[place], let owner = entry.owner else { return }
      pending.resume(owner.begin(entry.stream, response) ? .taken : .gone)
    case .write(let bytes, let pending):
      guard let entry = places[place], let owner = entry.owner else { return }
      pending.resume(owner.write(entry.stream, bytes))
    case .endBody:
      guard let entry = places.remove(place) else { return }
      entry.owner?.endBody(entry.stream)
    }
  }
}

/// A task that waits to hear what became of a write. When it is let go of unanswered, since the loop or the client has ended, the task
/// hears that the client is gone.
private final class PendingWrite: Sendable {
  private let continuation: Mutex<CheckedContinuation<BodyWriter.Outcome, Never>?>

  private init(_ continuation: CheckedContinuation<BodyWriter.Outcome, Never>) { self.continuation = Mutex(continuation) }

  deinit { resume(.gone) }

  /// Waits for the outcome of the write that `post` sends off.
  static func outcome(_ post: (PendingWrite) -> Void) async -> BodyWriter.Outcome {
    await withCheckedContinuation { post(PendingWrite($0)) }
  }

  /// Lets the task go on.
  func resume(_ outcome: BodyWriter.Outcome) {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(returning: outcome)
  }
}
