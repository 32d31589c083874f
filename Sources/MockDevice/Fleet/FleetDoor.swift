import Control
import DeviceModel
import Primitives
import Push
import Reactor
import Synchronization

/// The way to the fleet from any thread: work is left for its loop, and the answer waited for.
struct FleetDoor: Sendable {
  typealias Work = @Sendable (FleetKeeper) -> Void

  private let mailbox: Mailbox<Work>
  private let waiterIDs: WaiterIDs
  /// Has only a few answers be made at once that may be large.
  let pages = Turnstile(insideMax: Limits.pagesInWork, waitingMax: Limits.controlExchanges, to: "be told what is on devices")
  /// Places for calls that wait for something to happen, which the callers share.
  let waits = CallPlaces(Limits.deviceWaiters, for: "calls that wait")

  /// A door through `mailbox`, which hands its work to the keeper.
  init(_ mailbox: Mailbox<Work>) {
    self.mailbox = mailbox
    waiterIDs = WaiterIDs()
  }

  /// Leaves work for the loop; false when there is no room or no loop.
  @discardableResult
  func leave(_ work: @escaping Work) -> Bool { mailbox.post(work) }

  /// Does something with the fleet, at the product's time.
  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (inout DeviceFleet, Instant) throws(DeviceError) -> Value
  ) async throws(ControlError) -> Value {
    try await Reply<Value>.waiting { reply in
      mailbox.post { keeper in
        do throws(DeviceError) {
          reply.answer(.success(try body(&keeper.fleet, keeper.now)))
        } catch {
          reply.answer(.failure(ControlError(error)))
        }
      }
    }
  }

  /// Waits until `look` finds something, for at most `span`; nil when it did not, or when the task is cancelled meanwhile.
  func wait<Value: Sendable>(
    atMost span: TimeSpan, _ look: @escaping @Sendable (DeviceFleet) -> Value?
  ) async throws(ControlError) -> Value? {
    let cancelled = Flag()
    let id = waiterIDs.next()
    let deadline = Uptime.read() + span
    let answer = await withTaskCancellationHandler {
      await Result { () async throws(ControlError) -> Value? in
        try await Reply<Value?>.waiting { reply in
          mailbox.post { keeper in
            let waiter = FleetKeeper.Waiter(
              id: id, deadline: deadline,
              look: { fleet in
                guard !cancelled.isSet else {
                  reply.answer(.success(nil))
                  return true
                }
                guard let found = look(fleet) else { return false }
                reply.answer(.success(found))
                return true
              }, giveUp: { reply.answer(.success(nil)) })
            if !keeper.wait(waiter) { reply.answer(.failure(.unavailable("too many requests wait at this mock device already"))) }
          }
        }
      }
    } onCancel: {
      // The flag is for a waiter that comes after this message.
      cancelled.set()
      mailbox.post { keeper in keeper.dismiss(waiter: id) }
    }
    return try answer.get()
  }
}

/// Set once, from any thread.
private final class Flag: Sendable {
  private let value = Atomic<Bool>(false)
  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}

/// Numbers for waiters.
private final class WaiterIDs: Sendable {
  private let last = Atomic<UInt64>(0)
  func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

extension Result where Failure == ControlError {
  /// The outcome of an async call.
  fileprivate init(_ body: () async throws(ControlError) -> Success) async {
    do throws(ControlError) {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}

extension ControlError {
  /// The answer to what a device refuses.
  init(_ error: DeviceError) {
    let status =
      switch error.code {
      case .notFound: 404
      case .conflict: 409
      case .invalid: 400
      case .full: 409
      }
    self.init(status: status, code: error.code.rawValue, message: error.message, field: error.field)
  }
}
