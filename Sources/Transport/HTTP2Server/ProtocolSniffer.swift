import HTTP2
import Primitives
import Reactor

/// Looks at the first bytes of a connection that has agreed on no protocol: HTTP/2 if they are its preface (RFC 9113
/// section 3.4), else something else.
final class ProtocolSniffer: ConnectionDriver {
  private unowned let connection: Connection
  private let http2: (Connection) -> any ConnectionDriver
  private let otherwise: (Connection) -> any ConnectionDriver
  private let deadline: Uptime
  private var first = ByteQueue(capacity: 24)
  private var isFinished = false

  /// The part of the preface that no HTTP/1.1 request begins with.
  private static let preface: StaticString = "PRI * HTTP/2.0\r\n"

  init(
    _ connection: Connection, http2: @escaping (Connection) -> any ConnectionDriver,
    otherwise: @escaping (Connection) -> any ConnectionDriver
  ) {
    self.connection = connection
    self.http2 = http2
    self.otherwise = otherwise
    deadline = connection.transport.loop.uptime + connection.timeouts.handshake
  }

  func receive(_ bytes: RawSpan) -> Int {
    var rest = bytes
    while first.count < Self.preface.utf8CodeUnitCount, !rest.isEmpty {
      first.append(byte: rest.byte(0))
      rest = rest.extracting(droppingFirst: 1)
      guard matches() else {
        return bytes.byteCount - rest.byteCount + hand(rest, to: otherwise)
      }
    }
    guard first.count == Self.preface.utf8CodeUnitCount else { return bytes.byteCount }
    return bytes.byteCount - rest.byteCount + hand(rest, to: http2)
  }

  /// Whether the last byte is the preface's at its place.
  private func matches() -> Bool {
    let last = first.count - 1
    let expected = unsafe UnsafeRawBufferPointer(start: Self.preface.utf8Start, count: Self.preface.utf8CodeUnitCount)
    return unsafe byte(last, of: first) == expected[last]
  }

  private func byte(_ index: Int, of queue: borrowing ByteQueue) -> UInt8 { queue.bytes.byte(index) }

  /// Hands the connection on, with what has come; returns how many bytes of `rest` were taken.
  private func hand(_ rest: RawSpan, to make: (Connection) -> any ConnectionDriver) -> Int {
    let driver = make(connection)
    connection.driver = driver
    give(first, to: driver)
    let taken = rest.isEmpty ? 0 : driver.receive(rest)
    if isFinished { driver.finish() }
    connection.setNeedsFlush()
    return taken
  }

  private func give(_ queue: borrowing ByteQueue, to driver: any ConnectionDriver) { _ = driver.receive(queue.bytes) }

  func receiveEnd() { isFinished = true }
  func drain(into queue: inout ByteQueue) -> Bool { true }
  var wantsRead: Bool { true }
  var isDone: Bool { isFinished }
  var isIdle: Bool { true }
  var end: ConnectionEnd { .peerEnded }
  func sweep(_ uptime: Uptime) { if uptime >= deadline { connection.close(.handshakeTimeout) } }
  func finish() { isFinished = true }
  func ended(_ end: ConnectionEnd) {}
}
