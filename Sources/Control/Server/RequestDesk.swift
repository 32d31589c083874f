import Primitives
import Reactor

/// Where an answer goes.
protocol RequestOwner: AnyObject {
  /// Takes the answer to request `stream` of this owner, on the loop.
  func answer(_ stream: UInt64, _ response: HTTPResponse)
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

  private struct Answer: Sendable {
    let place: SlabKey
    let response: HTTPResponse
  }

  private let handler: Handler
  private let capacity: Int
  private var places: Slab<Place>
  private var mailbox: Mailbox<Answer>?

  init(on loop: EventLoop, capacity: Int, handler: @escaping Handler) {
    self.capacity = capacity
    self.handler = handler
    places = Slab(capacity: capacity)
    // A task posts once, so what waits never exceeds the places.
    mailbox = loop.makeMailbox(capacity: capacity) { [weak self] answer in self?.close(answer) }
  }

  /// Requests in progress.
  var count: Int { places.count }

  /// Starts to answer a request; throws 503 when every place is taken.
  func open(_ request: HTTPRequest, for owner: any RequestOwner, stream: UInt64) throws(ControlError) -> SlabKey {
    guard let mailbox, let place = places.insert(Place(owner: owner, stream: stream)) else {
      throw .unavailable("\(capacity) requests are being answered, which is the most; try again in a second")
    }
    let handler = handler
    let task = Task {
      let response = await handler(request)
      mailbox.post(Answer(place: place, response: response))
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

  private func close(_ answer: Answer) {
    guard let entry = places.remove(answer.place) else { return }
    entry.owner?.answer(entry.stream, answer.response)
  }
}
