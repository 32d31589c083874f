import Delivery
import Primitives
import Push
import Reactor
import Security
import Testing
import Transport

@testable import Forwarding

/// What one upstream has queued on a loop leaves room for what is queued for the others.
@Suite("Shares of the queues") struct QueueShareTests {
  private func forwarder(_ count: Int) throws -> Forwarder {
    let loop = try EventLoop(clock: { Instant(unixSeconds: 1_700_000_000) })
    let transport = TransportLoop(on: loop, connections: 10, exchanges: 10, blockBytesMax: 1 << 20)
    let authority = try CertificateAuthority.make(commonName: "test", now: Instant(unixSeconds: 1_700_000_000), days: 1)
    let tls = try TLSContext.client(.authorities(pem: authority.certificate.pem()), protocols: [.http2])
    let upstreams = (0..<count).map { Upstream(name: "number \($0)", host: "127.0.0.1", port: 9, tls: tls) }
    let signer = try ProviderTokenSigner(teamID: "TEAM123456", keyID: "KEY1234567", key: try P256PrivateKey.generate())
    return Forwarder(upstreams, authorization: UpstreamAuthorization(ProviderTokenSigners([signer])), on: transport)
  }

  private func fill(_ forwarder: Forwarder, _ upstream: UInt16) -> [QueuedPush] {
    let bytes = [UInt8](repeating: 7, count: 60_000)
    let push = ForwardedPush(
      ticket: PushTicket(sequence: 1, slot: 0), id: PushID(high: 1, low: 7), token: DeviceToken(hex: String(repeating: "ab", count: 32))!,
      upstream: upstream, signer: 0, type: .widgets, priority: .considerate, prioritySent: true, expiration: .absent, attempt: 1,
      topic: ByteRange(offset: 0, count: 30), collapseID: .empty, payload: ByteRange(offset: 30, count: 59_970))
    var queued: [QueuedPush] = []
    while let next = forwarder.queue(push, bytes.span.bytes) { queued.append(next) }
    return queued
  }

  @Test func oneThatStallsLeavesTheOthersTheirPart() throws {
    let forwarder = try forwarder(2)
    let blocks = Limits.upstreamQueueBytes >> 16
    let (stalled, other) = (fill(forwarder, 0), fill(forwarder, 1))
    #expect(stalled.count == blocks * 3 / 4 && other.count == blocks / 4)
    for queued in stalled { forwarder.release(queued) }
    #expect(forwarder.spareBytes == stalled.count << 16)
    forwarder.releaseSpare()
    #expect(forwarder.spareBytes == 0)
    let again = fill(forwarder, 1)
    #expect(again.count == blocks / 2, "what is free, but for the other's part")
    for queued in other + again { forwarder.release(queued) }
  }

  @Test func theOnlyOneHasAll() throws {
    let forwarder = try forwarder(1)
    let queued = fill(forwarder, 0)
    #expect(queued.count == Limits.upstreamQueueBytes >> 16)
    for queued in queued { forwarder.release(queued) }
  }
}
