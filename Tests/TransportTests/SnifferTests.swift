import HTTP2
import Primitives
import Reactor
import Testing
import Transport

/// Sends back what it gets.
private final class Echo: ConnectionDriver {
  private unowned let connection: Connection
  private var queue = ByteQueue(capacity: 1 << 16)
  private var hasPeerEnded = false

  init(_ connection: Connection) { self.connection = connection }

  func receive(_ bytes: RawSpan) -> Int {
    queue.append(bytes)
    connection.setNeedsFlush()
    return bytes.byteCount
  }
  func receiveEnd() { hasPeerEnded = true }
  func drain(into other: inout ByteQueue) -> Bool {
    other.take(from: &queue)
    return queue.isEmpty
  }
  var wantsRead: Bool { true }
  var isDone: Bool { hasPeerEnded }
  var isIdle: Bool { true }
  var end: ConnectionEnd { .peerEnded }
  func sweep(_ uptime: Uptime) {}
  func finish() { hasPeerEnded = true }
  func ended(_ end: ConnectionEnd) {}
}

/// Ends the connection as soon as it is spoken to, from within `receive`.
private final class Curt: ConnectionDriver {
  private unowned let connection: Connection
  init(_ connection: Connection) { self.connection = connection }
  func receive(_ bytes: RawSpan) -> Int {
    connection.close()
    return bytes.byteCount
  }
  func receiveEnd() {}
  func drain(into other: inout ByteQueue) -> Bool { true }
  var wantsRead: Bool { true }
  var isDone: Bool { false }
  var isIdle: Bool { true }
  var end: ConnectionEnd { .finished }
  func sweep(_ uptime: Uptime) {}
  func finish() {}
  func ended(_ end: ConnectionEnd) {}
}

@Suite("Two protocols on one face") struct SnifferTests {
  @Test(arguments: [true, false]) func http2IsRecognised(encrypted: Bool) throws {
    let stage = try Stage(tls: encrypted ? TestCertificates.serverOfBoth : nil) { Echo($0) }
    let client = stage.makeClient(tls: encrypted ? TestCertificates.client : nil)
    client.request("/")
    #expect(stage.wait { client.responses.count == 1 })
  }

  /// Whatever the bytes are cut into, and wherever they differ from the preface.
  @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "PUT / HTTP/1.1\r\n\r\n", "PRI * HTTP/1.1\r\n\r\n", "\r\n", "P/"])
  func anythingElseIsGivenOn(text: String) throws {
    let stage = try Stage(tls: nil) { Echo($0) }
    for whole in [true, false] {
      let peer = try stage.makeSocket()
      if whole {
        peer.send(text)
      } else {
        for byte in text.utf8 {
          peer.send([byte])
          stage.loop.turn(waitingAtMost: .milliseconds(1))
        }
      }
      #expect(stage.wait { peer.received.count == text.utf8.count })
      #expect(peer.received == Array(text.utf8))
    }
    #expect(stage.handler.failures.isEmpty)
  }

  /// Closing from within `receive`, with more input waiting than one read takes, is as good as any other close.
  @Test func aDriverMayEndTheConnectionWhileItReceives() throws {
    let stage = try Stage(tls: nil) { Curt($0) }
    let peer = try stage.makeSocket()
    peer.send([UInt8](repeating: 65, count: 1 << 20))
    #expect(stage.wait { peer.hasEnded || peer.isBroken })
    stage.clock.advance(.seconds(3))
    #expect(stage.wait { stage.transport.connectionCount == 0 })
  }

  @Test func aPrefaceInPiecesIsAPreface() throws {
    let stage = try Stage(tls: nil) { Echo($0) }
    let peer = try stage.makeSocket()
    for byte in clientPreface() + emptyRequest {
      peer.send([byte])
      stage.loop.turn(waitingAtMost: .milliseconds(1))
    }
    #expect(stage.wait { stage.handler.paths.count == 1 })
  }

  @Test func whoSaysNothingIsClosed() throws {
    let stage = try Stage(tls: nil) { Echo($0) }
    let peer = try stage.makeSocket()
    peer.send("PRI")
    #expect(stage.wait { stage.server.connectionCount == 1 })
    for _ in 0..<3 { stage.loop.turn(waitingAtMost: .milliseconds(20)) }
    stage.clock.advance(.seconds(11))
    #expect(stage.wait { peer.hasEnded })
  }
}
