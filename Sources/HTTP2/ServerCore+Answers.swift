extension ServerCore {
  /// Whether an answer was found waiting for the client's window more than `limit` times, this one included.
  mutating func findsAnswerWaiting(moreThan limit: Int) -> Bool {
    var (place, found) = (taken.first, false)
    while let slot = place {
      if slot.pointee.isAnswered, slot.pointee.response.isUnread, slot.pointee.response.countWait() > limit { found = true }
      place = slot.pointee.next
    }
    return found
  }

  /// Whether an open exchange has no answer yet, or one whose body goes on.
  var hasAnswersToCome: Bool {
    guard receiving.isEmpty, ready.isEmpty else { return true }
    var place = taken.first
    while let slot = place {
      if !slot.pointee.isAnswered || slot.pointee.response.isOpen { return true }
      place = slot.pointee.next
    }
    return false
  }
}
