/// The armed timers of a loop, a binary heap by the time they are filed under; timers know their place in it.
struct TimerHeap {
  private var timers: ContiguousArray<Timer> = []

  var isEmpty: Bool { timers.isEmpty }

  /// The earliest time anything is filed under: not later than the first deadline.
  var earliest: Uptime? { timers.first?.filed }

  /// Files `timer` under its deadline, wherever it was. O(log n).
  mutating func file(_ timer: Timer) {
    if timer.index < 0 {
      timer.index = timers.count
      timers.append(timer)
    }
    timer.filed = timer.deadline
    siftUp(timer.index)
    siftDown(timer.index)
  }

  /// Takes `timer` out, if it is there. O(log n).
  mutating func remove(_ timer: Timer) {
    let index = timer.index
    guard index >= 0 else { return }
    let last = timers.removeLast()
    timer.index = -1
    guard last !== timer else { return }
    timers[index] = last
    last.index = index
    siftUp(index)
    siftDown(last.index)
  }

  /// Takes every timer out, none of which comes due any more; each may be cancelled or armed again.
  mutating func removeAll() {
    for timer in timers { timer.index = -1 }
    timers.removeAll()
  }

  /// The next timer whose deadline is not after `now`, taken out; those that were moved or disarmed are put right.
  mutating func takeDue(_ now: Uptime) -> Timer? {
    while let first = timers.first, first.filed <= now {
      if first.deadline != first.filed && first.deadline != .never {
        file(first)
      } else {
        remove(first)
        if first.deadline != .never { return first }
      }
    }
    return nil
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0, timers[index].filed < timers[(index - 1) / 2].filed {
      swap(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    while 2 * index + 1 < timers.count {
      var least = index
      for child in 2 * index + 1..<min(2 * index + 3, timers.count) where timers[child].filed < timers[least].filed {
        least = child
      }
      guard least != index else { return }
      swap(index, least)
      index = least
    }
  }

  private mutating func swap(_ a: Int, _ b: Int) {
    timers.swapAt(a, b)
    timers[a].index = a
    timers[b].index = b
  }
}
