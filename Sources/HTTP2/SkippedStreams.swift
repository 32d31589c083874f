/// The streams that a client has left out, as far as it has left out few in a row: they count as closed, and may not be
/// opened any more (RFC 9113 section 5.1.1).
///
/// Real clients leave out none. HEADERS on a stream that was open are another matter: they may have been on their way when it
/// was reset, and are passed over.
struct SkippedStreams {
  private var last: Int32 = -1
  private var gaps = InlineArray<4, Gap>(repeating: Gap(first: 0, last: -1))
  private var next = 0

  private struct Gap {
    var first: Int32
    var last: Int32
  }

  /// A HEADERS frame has come on `stream`; false when that stream had been left out.
  @inline(__always) mutating func allows(_ stream: Int32) -> Bool {
    if stream == last &+ 2 {
      last = stream
      return true
    }
    return allowsOutOfStep(stream)
  }

  private mutating func allowsOutOfStep(_ stream: Int32) -> Bool {
    guard stream > last else {
      for index in gaps.indices where stream >= gaps[index].first && stream <= gaps[index].last { return false }
      return true
    }
    gaps[next] = Gap(first: last + 2, last: stream - 2)
    next = (next + 1) % gaps.count
    last = stream
    return true
  }
}
