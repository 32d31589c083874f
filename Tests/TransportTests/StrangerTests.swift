import Foundation
import HTTP2
import Primitives
import Reactor
import Security
import Seeds
import Testing
import Transport

@Suite("Other implementations and strangers") struct StrangerTests {
  /// curl, with each version of TLS, and without ALPN.
  @Test(arguments: [["--tls-max", "1.2"], ["--tlsv1.3"], ["--no-alpn", "--http2-prior-knowledge"]])
  func curlIsAnswered(arguments: [String]) throws {
    let stage = try Stage()
    let authority = FileManager.default.temporaryDirectory.appendingPathComponent("ca-\(UUID().uuidString).pem")
    try TestCertificates.authorityPEM.write(to: authority, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: authority) }
    let curl = Process()
    curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    curl.arguments =
      ["curl", "--silent", "--http2", "--cacert", authority.path, "--data", "hello", "--write-out", " %{http_version} %{http_code}"]
      + arguments + ["https://localhost:\(stage.server.address.port)/3/device/aa"]
    let output = Pipe()
    curl.standardOutput = output
    try curl.run()
    #expect(stage.wait { !curl.isRunning })
    #expect(String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == "hello 2 200")
    #expect(stage.handler.paths == ["/3/device/aa"])
  }

  /// Requests with bytes changed, cut, repeated and inserted, in pieces: whatever comes of it, the connection ends, its
  /// exchanges are freed, and the server goes on.
  @Test(arguments: seeds(40)) func garbledRequestsHarmNobody(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let stage = try Stage(tls: nil)
    for _ in 0..<25 {
      var bytes = clientPreface()
      for stream in stride(from: UInt8(1), to: 20, by: 2) {
        bytes += [0, 0, 6, 1, generator.next() % 2 == 0 ? 5 : 4, 0, 0, 0, stream, 0x83, 0x87, 0x84, 0x41, 0x01, 0x61]
        bytes += [0, 0, 3, 0, 1, 0, 0, 0, stream, 1, 2, 3]
      }
      for _ in 0..<(1 + generator.next() % 8) {
        let place = Int(generator.next() % UInt64(bytes.count))
        switch generator.next() % 4 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int(generator.next() % 9)))
        case 2: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 20)], at: place)
        default: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
        }
        if bytes.isEmpty { bytes = [0] }
      }
      let peer = try stage.makeSocket()
      while !bytes.isEmpty {
        let count = min(bytes.count, 1 + Int(generator.next() % 100))
        peer.send(Array(bytes.prefix(count)))
        bytes.removeFirst(count)
        stage.loop.turn(waitingAtMost: .zero)
      }
      peer.socket.shutdownSending()
    }
    #expect(stage.wait { stage.transport.connectionCount == 0 }, "seed \(seed)")
    #expect(stage.transport.exchanges.openExchanges == 0, "seed \(seed)")
    let client = stage.makeClient(tls: nil)
    client.request("/after")
    #expect(stage.wait { client.responses.count == 1 }, "seed \(seed)")
  }

  /// The same for TLS: random bytes, and a real handshake with bytes changed.
  @Test(arguments: seeds(10)) func garbledHandshakesHarmNobody(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let stage = try Stage()
    for round in 0..<20 {
      var bytes = clientHello()
      if round % 4 == 0 { bytes = (0..<300).map { _ in UInt8(truncatingIfNeeded: generator.next()) } }
      for _ in 0..<(1 + generator.next() % 4) {
        bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
      }
      let peer = try stage.makeSocket()
      peer.send(bytes)
      stage.loop.turn(waitingAtMost: .milliseconds(1))
      peer.socket.shutdownSending()
    }
    #expect(stage.wait { stage.transport.connectionCount == 0 }, "seed \(seed)")
    let client = stage.makeClient()
    client.request("/after")
    #expect(stage.wait { client.responses.count == 1 }, "seed \(seed)")
  }

  private func clientHello() -> [UInt8] {
    var session = TLSSession(client: TestCertificates.client, name: "localhost")
    var plain = ByteQueue(capacity: 1 << 16)
    var output = ByteQueue(capacity: 1 << 16)
    _ = session.receive(RawSpan(), plaintext: &plain, output: &output)
    return output.bytes.array
  }
}
