import Primitives
import Push

// Telling those who follow the log: after the commit of each round, of the pushes that changed in it. While nobody follows, a round pays
// the question whether somebody does.
extension StoreCore {
  /// One who follows the log.
  struct Follower {
    let query: PushQuery
    let queue: FeedQueue
  }

  /// Adds a follower, told of what comes, and before that of what has happened since `place`.
  mutating func follow(_ query: PushQuery, after place: EventPlace?) throws(StoreError) -> PushFeed {
    followers.removeAll { $0.queue.isOver }
    guard followers.count < settings.followers else {
      throw .busy("\(settings.followers) calls follow the events already, which is the most")
    }
    let queue = FeedQueue(capacity: settings.followedEvents, bytes: settings.followedBytes)
    if let place {
      let (events, lost) = state.events(query, after: place, in: queue.room)
      queue.give([], lost: lost)
      queue.give(events)
    }
    followers.append(Follower(query: query, queue: queue))
    state.isWatched = true
    return PushFeed(queue)
  }

  /// Tells of this round, which is durable.
  mutating func tellFollowers() {
    guard !followers.isEmpty else { return }
    followers.removeAll { $0.queue.isOver }
    var places = Set(state.touchedEntries).sorted().compactMap { state.log[$0].map(LogPlace.accepted) }
    let firstRefused = max(refusedSeen, state.refused.oldest)
    places += (firstRefused..<max(firstRefused, state.refused.next)).map(LogPlace.refused)
    guard !places.isEmpty else { return }
    var told = [PushEvent?](repeating: nil, count: places.count)
    for follower in followers {
      let filter = LogFilter(follower.query, state)
      var room = follower.queue.room
      var (events, lost): ([PushEvent], Int) = ([], 0)
      for (index, place) in places.enumerated() where filter.misses(place, state)?.isEmpty ?? false {
        // Behind one that is lost all are, so that the place of the loss is right.
        guard lost == 0, room.events > 0 else {
          lost += 1
          continue
        }
        // Made once, however many follow.
        let event = told[index] ?? state.event(place)
        told[index] = event
        if room.take(event) { events.append(event) } else { lost += 1 }
      }
      if !events.isEmpty || lost > 0 { follower.queue.give(events, lost: lost) }
    }
  }
}

extension StoreState {
  /// The event that a push makes by what happened to it last.
  func event(_ place: LogPlace) -> PushEvent {
    let push: PushRecord
    switch place {
    case .accepted(let entry): push = record(entry)
    case .refused(let sequence): push = record(refusedAt: sequence)
    }
    return PushEvent(place: eventPlace(place), push: push)
  }

  private func eventPlace(_ place: LogPlace) -> EventPlace {
    switch place {
    case .accepted(let entry):
      EventPlace(
        at: log.last(of: entry).at, isRefused: false, sequence: entry.pointee.sequence, steps: Int(entry.pointee.stepCount),
        disposition: log.last(of: entry).disposition)
    case .refused(let sequence):
      EventPlace(at: refused[sequence].pointee.at, isRefused: true, sequence: sequence, steps: 1, disposition: .refused)
    }
  }

  /// The latest events that match and have happened since `place`, in order, and how many there were beside them, at least.
  ///
  /// An event of the very instant of `place` comes again, unless it is that one: while a clock stands still, another may have happened
  /// after it.
  func events(_ query: PushQuery, after place: EventPlace, in room: FeedQueue.Room) -> (events: [PushEvent], lost: Int) {
    let filter = LogFilter(query, self)
    var found: [(place: EventPlace, entry: LogPlace)] = []
    var walk = LogWalk(PushQuery(), token: filter.token, self)
    var (visits, lost) = (Limits.logEntriesPerPage, 0)
    while let entry = walk.next(self, visits: &visits) {
      let at = eventPlace(entry)
      guard at.at >= place.at, at != place, filter.misses(entry, self)?.isEmpty ?? false else { continue }
      found.append((at, entry))
    }
    // What is older may have changed since, too, and nobody looks.
    var further = 1
    if visits == 0, case .accepted(let entry) = walk.next(self, visits: &further), log.step(0, of: entry).at >= place.at { lost = 1 }
    found.sort { $0.place < $1.place }
    var (room, latest): (FeedQueue.Room, [PushEvent]) = (room, [])
    for (_, entry) in found.reversed() {
      let event = event(entry)
      guard room.take(event) else { break }
      latest.append(event)
    }
    return (latest.reversed(), lost + found.count - latest.count)
  }
}
