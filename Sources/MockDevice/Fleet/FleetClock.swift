import Control
import DeviceModel
import Primitives

/// The devices' part of what the clock moves: activities that become stale, end and leave the Lock Screen.
struct FleetClock: ClockPart {
  private let door: FleetDoor

  init(_ door: FleetDoor) { self.door = door }

  func clockChanged(to time: VirtualTime, at real: Instant) async {
    // The loop reads the clock at the start of the round that this makes.
    _ = try? await door.perform { fleet, now throws(DeviceError) in fleet.advance(to: now) }
  }

  func standing(of time: VirtualTime, until: Instant?, real: @Sendable () -> Instant) async -> ClockStanding {
    do throws(ControlError) {
      return try await door.standing(atMost: until.map { $0 - real() })
    } catch {
      return ClockStanding(outstanding: [ClockWork("the mock device cannot tell what is due: \(error.message)")])
    }
  }
}

extension FleetDoor {
  /// What the devices have still to tell the gateway, once that is nothing or after `span`.
  fileprivate func standing(atMost span: TimeSpan?) async throws(ControlError) -> ClockStanding {
    if let span, span > .zero {
      _ = try await wait(atMost: span) { fleet in fleet.pendingRegistrations == 0 ? true : nil }
    }
    return try await perform { fleet, _ throws(DeviceError) in ClockStanding(fleet) }
  }
}

extension ClockStanding {
  fileprivate init(_ fleet: DeviceFleet) {
    let pending = fleet.pendingRegistrations
    let work = pending == 0 ? [] : [ClockWork("the gateway has yet to be told of \(pending) push tokens of the mock device")]
    let next = fleet.nextChange.map { change in
      ClockEvent(
        at: change.at, what: change.event.name, bundleID: change.bundleID, subject: ["device": change.device, "activity": change.activity])
    }
    self.init(next: next, outstanding: work, outstandingCount: pending, changes: fleet.newestEvent)
  }
}
