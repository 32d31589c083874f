import Control
import Primitives
import Push
import Synchronization
import Testing

@Suite("Moving the clock") struct ClockDriverTests {
  /// Each event happens at its own instant, in order, whatever part it is of; what an event brings about on the way happens, too.
  @Test func itGoesThroughEverythingThatBecomesDue() async throws {
    let stage = ClockStage()
    let (first, second) = (stage.part(30, 10, 90), stage.part(20, 30))
    second.state.withLock { $0.follows = [.seconds(5)] }
    let report = try await stage.driver.move(.by(.seconds(60)))
    #expect(first.happened == ClockStage.after(10, 30))
    #expect(second.happened == ClockStage.after(20, 25, 30))
    #expect(report.steps == 4 && report.advanced == .seconds(60) && report.standing.isSettled)
    #expect(report.moment.now == ClockStage.noon + .seconds(60) && !report.moment.isFrozen)
    #expect(report.standing.next?.at == ClockStage.noon + .seconds(90))
  }

  /// What is due at the goal's own instant is done.
  @Test func theGoalBelongsToIt() async throws {
    let stage = ClockStage()
    let part = stage.part(60)
    let report = try await stage.driver.move(.to(ClockStage.noon + .seconds(60)))
    #expect(part.happened == ClockStage.after(60) && report.standing.next == nil)
  }

  @Test func toTheNextEventAndNoFurther() async throws {
    let stage = ClockStage()
    let part = stage.part(40, 50)
    #expect(try await stage.driver.move(.next).moment.now == ClockStage.noon + .seconds(40))
    #expect(part.happened == ClockStage.after(40))
    _ = try await stage.driver.move(.next)
    let last = try await stage.driver.move(.next)
    #expect(part.happened == ClockStage.after(40, 50))
    #expect(last.moment.now == ClockStage.noon + .seconds(50) && last.advanced == .zero && last.standing.isSettled)
  }

  /// A clock that stood stands again afterwards, and one that ran runs on from the goal, however long it took.
  @Test(arguments: [false, true]) func itIsLeftAsItWas(isFrozen: Bool) async throws {
    let stage = ClockStage()
    if isFrozen { _ = try await stage.driver.setFrozen(true) }
    stage.machine.pass(.seconds(5))
    let start = stage.clock.moment.now
    #expect(start == ClockStage.noon + (isFrozen ? .zero : .seconds(5)))
    let report = try await stage.driver.move(.by(.seconds(3600)))
    #expect(report.moment.isFrozen == isFrozen && report.moment.now == start + .seconds(3600))
    stage.machine.pass(.seconds(5))
    #expect(stage.clock.moment.now == start + .seconds(isFrozen ? 3600 : 3605))
    #expect(stage.kept.times.withLock { $0.last } == stage.clock.setting)
  }

  @Test func itNeverGoesBack() async throws {
    let stage = ClockStage()
    _ = stage.part(60)
    _ = try await stage.driver.move(.by(.seconds(10)))
    let before = stage.clock.setting
    let error = await #expect(throws: ControlError.self) { try await stage.driver.move(.to(ClockStage.noon + .seconds(9))) }
    #expect(error?.status == 409 && error?.message.contains("does not go back") == true)
    #expect(stage.clock.setting == before && stage.kept.times.withLock { $0.last } == before)
  }

  /// A clock that follows another has run on for as long as the call took, and is set back by that.
  @Test func aClockThatFollowsHasSomeSlack() async throws {
    let stage = ClockStage()
    let driver = ClockDriver(stage.clock, ClockSettings(permitted: true), slack: .seconds(5))
    stage.machine.pass(.seconds(3))
    let report = try await driver.move(.to(ClockStage.noon), thenFrozen: true)
    #expect(report.moment.now == ClockStage.noon && report.moment.isFrozen)
    stage.machine.pass(.seconds(3))
    #expect(try await driver.move(.to(ClockStage.noon), thenFrozen: false).moment.now == ClockStage.noon)
    stage.machine.pass(.seconds(6))
    await #expect(throws: ControlError.self) { try await driver.move(.to(ClockStage.noon)) }
    #expect(stage.clock.moment.now == ClockStage.noon + .seconds(6))
  }

  @Test func notBeyondTenYears() async throws {
    let stage = ClockStage()
    _ = try await stage.driver.move(.by(.seconds(Limits.clockAheadDays * 86_400)))
    let error = await #expect(throws: ControlError.self) { try await stage.driver.move(.by(.seconds(60))) }
    #expect(error?.status == 400)
    #expect(stage.clock.moment.lead == .seconds(Limits.clockAheadDays * 86_400))
  }

  /// With work that is never done it ends after ten seconds, at its goal, and says what is left; later events have happened all the same.
  @Test func itDoesNotWaitForEver() async throws {
    let stage = ClockStage()
    let part = stage.part(10, 20)
    part.state.withLock { $0.stuck = 2 }
    stage.machine.tick.withLock { $0 = .milliseconds(900) }
    let report = try await stage.driver.move(.by(.seconds(60)))
    stage.machine.tick.withLock { $0 = .zero }
    #expect(!report.standing.isSettled && report.standing.outstanding.map(\.message) == ["stuck 0", "stuck 1"])
    #expect(part.happened.count == 2)
    #expect(report.moment.now >= ClockStage.noon + .seconds(60) && report.moment.now < ClockStage.noon + .seconds(80))
  }

  /// The goal is kept before anything moves, so that a restart in the midst of it finds no instant ahead of its clock.
  @Test func itIsKeptBeforeItMoves() async throws {
    let stage = ClockStage()
    _ = try await stage.driver.setFrozen(true)
    _ = try await stage.driver.move(.by(.seconds(60)))
    #expect(
      stage.kept.times.withLock { $0 } == [VirtualTime(frozenAt: ClockStage.noon), VirtualTime(frozenAt: ClockStage.noon + .seconds(60))])
    stage.kept.room.withLock { $0 = 0 }
    let part = stage.part(70)
    let error = await #expect(throws: ControlError.self) { try await stage.driver.move(.by(.seconds(60))) }
    #expect(error?.status == 503 && part.happened.isEmpty && stage.clock.moment.now == ClockStage.noon + .seconds(60))
    await #expect(throws: ControlError.self) { try await stage.driver.setFrozen(false) }
    #expect(stage.clock.moment.isFrozen)
  }

  /// Where the disk is full by the time that the goal is reached, the clock runs on all the same, and the answer says where it is: what was
  /// kept before it moved says nothing else.
  @Test func itRunsOnWhereTheDiskHasBecomeFull() async throws {
    let stage = ClockStage()
    let part = stage.part(30, 90)
    stage.kept.room.withLock { $0 = 1 }
    stage.machine.tick.withLock { $0 = .milliseconds(1) }
    let report = try await stage.driver.move(.by(.seconds(60)))
    stage.machine.tick.withLock { $0 = .zero }
    #expect(part.happened.count == 1 && report.advanced == .seconds(60) && !report.moment.isFrozen)
    let shown = stage.clock.moment.now
    stage.machine.pass(.seconds(5))
    #expect(stage.clock.moment.now == shown + .seconds(5))
    // A restart goes on from there or a little later, never from before.
    let kept = stage.kept.times.withLock { $0 }
    #expect(kept.count == 1 && kept[0].frozenAt == nil && kept[0].lead >= stage.clock.setting.lead)
    #expect(part.state.withLock { $0.told.last } == stage.clock.setting)
  }

  /// A clock that cannot be made to run shows no later time in between, from which it would have to go back.
  @Test func aClockThatCannotBeStartedStandsAllTheWhile() async throws {
    let stage = ClockStage()
    _ = try await stage.driver.setFrozen(true)
    let stands = stage.clock.moment.now
    let seen = Mutex<[Instant]>([])
    let driver = ClockDriver(stage.clock, ClockSettings(permitted: true)) { _ in
      seen.withLock { $0.append(stage.clock.moment.now) }
      throw ClockStage.NotKept()
    }
    stage.machine.tick.withLock { $0 = .milliseconds(5) }
    let error = await #expect(throws: ControlError.self) { try await driver.setFrozen(false) }
    #expect(error?.status == 503 && seen.withLock { $0 } == [stands] && stage.clock.moment.now == stands)
  }

  /// Calls have their turns: each goes on where the one before has come to.
  @Test func callsHaveTheirTurns() async throws {
    let stage = ClockStage()
    _ = stage.part(5, 15, 25, 35, 45)
    try await withThrowingTaskGroup(of: ClockReport.self) { group in
      for _ in 0..<10 { group.addTask { try await stage.driver.move(.by(.seconds(10))) } }
      var times: [Instant] = []
      for try await report in group { times.append(report.moment.now) }
      #expect(times.sorted() == (1...10).map { ClockStage.noon + .seconds(10 * $0) })
    }
  }

  @Test func whereItIsNotPermittedNothingMoves() async throws {
    let stage = ClockStage(permitted: false)
    for goal in [ClockDriver.Goal.next, .by(.seconds(1))] {
      let error = await #expect(throws: ControlError.self) { try await stage.driver.move(goal) }
      #expect(error?.status == 403 && error?.code == "clockNotPermitted")
    }
    await #expect(throws: ControlError.self) { try await stage.driver.setFrozen(true) }
    #expect(stage.clock.setting.isReal && stage.kept.times.withLock { $0.isEmpty })
  }
}
