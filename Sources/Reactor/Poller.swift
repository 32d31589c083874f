import CLinux
import Primitives

/// The kernel's readiness queue: epoll, edge-triggered.
///
/// Everything is watched for reading and writing at once, so that interest never has to be changed again: one
/// `epoll_ctl` per connection in its whole life. The 64 bits that the kernel keeps for us are a slab key, whose
/// generation makes an event for a connection that is gone find nothing.
struct Poller: ~Copyable {
  private let descriptor: Descriptor
  private let events: UnsafeMutablePointer<epoll_event>
  /// Events taken from the kernel at once; more stay there for the next round.
  private static let eventsMax = 256

  init() throws(SystemError) {
    descriptor = Descriptor(owning: try syscallNow("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) })
    events = .allocate(capacity: Self.eventsMax)
  }

  deinit { events.deallocate() }

  func watch(_ raw: Int32, key: UInt64) throws(SystemError) {
    let interest = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
    var event = c_linux_epoll_event(interest, key)
    _ = try syscallNow("epoll_ctl") { epoll_ctl(descriptor.raw, EPOLL_CTL_ADD, raw, &event) }
  }

  /// Waits at most `milliseconds` (-1: for ever) and returns how many events there are.
  func wait(milliseconds: Int32) throws(SystemError) -> Int {
    Int(try syscallNow("epoll_wait") { epoll_wait(descriptor.raw, events, Int32(Self.eventsMax), milliseconds) })
  }

  func event(_ index: Int) -> (key: UInt64, readiness: Readiness) {
    (events[index].data.u64, Readiness(rawValue: events[index].events))
  }
}
