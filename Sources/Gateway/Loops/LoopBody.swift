import Delivery
import HTTP2
import Primitives
import Push
import Reactor
import Rules
import Security
import Storage
import Transport

/// What lives on one loop's thread: the loop, its share of the provider face, its connections to upstreams.
final class LoopBody {
  private let loop: EventLoop
  private let provider: ProviderLoop
  private let shared: ProviderShared
  private var servers: [HTTP2Server] = []
  private var inbox: Mailbox<LoopOrder>?
  private var serversOpen = 0
  private var isDraining = false
  private var deadline: Timer?

  /// The settled batches of this loop, from the store thread.
  var settled: Mailbox<Batch> { provider.settled }
  /// Broadcasts to send, from the store thread.
  var broadcasts: Mailbox<ForwardedBroadcast> { provider.broadcasts }
  /// What other threads tell this loop.
  var orders: Mailbox<LoopOrder> { inbox! }

  init(
    _ index: Int, sockets: [ListeningSocket], _ shared: ProviderShared, clock: @escaping @Sendable () -> Moment
  ) throws {
    loop = try EventLoop(moments: clock)
    let transport = TransportLoop(
      on: loop, connections: Limits.connectionsPerLoop + Limits.upstreamConnectionsPerLoop,
      exchanges: Limits.exchangesPerLoop, blockBytesMax: Limits.exchangeBytes, turnWork: Limits.turnWork,
      handshakeWork: Limits.handshakeWork)
    let store = shared.store
    transport.atQuiet(spareBytes: { store.spareBytes }, release: { store.releaseSpare() })
    self.shared = shared
    provider = try ProviderLoop(index, on: transport, shared)
    // As many as come, so that the order to drain is among them.
    inbox = loop.makeMailbox(capacity: .max) { [unowned self] order in carryOut(order) }
    let tls = shared.settings.value.tls
    let configuration = Self.serverConfiguration(shared)
    servers = try sockets.map { try HTTP2Server(on: transport, $0, tls: tls, configuration, handler: provider) }
    provider.whenRelieved = { [unowned self] in for server in servers { server.resumeReading() } }
    loop.atEveryRoundEnd(.decide) { [unowned self] in endIfDrained() }
  }

  func run() { loop.run() }

  private static func serverConfiguration(_ shared: ProviderShared) -> HTTP2Server.Configuration {
    var settings = ServerSettings(bodyBytesMax: Limits.providerBodyBytes)
    settings.concurrentStreams = shared.initialConcurrentStreams
    settings.resetsHeaderOverflow = shared.settings.value.rules.answers.headerOverflow == .reset
    settings.trimsFields = shared.settings.value.rules.answers.spacedField == .trim
    settings.errorAnswersMax = shared.settings.value.rules.answers.closeAfterErrors
    settings.concurrentStreamsTrusted = Limits.concurrentStreams
    settings.headerListBytesMax = Limits.headerListBytes
    settings.streamResetBurst = Limits.streamResets.burst
    settings.streamResetsPerSecond = Limits.streamResets.perSecond
    settings.idleFrameBurst = Limits.idleFrames.burst
    settings.idleFramesPerSecond = Limits.idleFrames.perSecond
    settings.idleFramesPerRequest = Limits.idleFrames.perRequest
    settings.continuationsMax = Limits.continuations
    var timeouts = ConnectionTimeouts()
    timeouts.handshake = .milliseconds(Limits.handshakeMilliseconds)
    timeouts.request = .milliseconds(Limits.requestMilliseconds)
    timeouts.stalledWrite = .milliseconds(Limits.stalledWriteMilliseconds)
    var configuration = HTTP2Server.Configuration(
      settings: settings, places: ConnectionPlaces(capacity: Limits.connectionsPerLoop), timeouts: timeouts)
    configuration.saysCloseNotify = false
    configuration.spareDescriptors = Limits.spareDescriptors
    return configuration
  }
}

// MARK: The end

extension LoopBody {
  private func carryOut(_ order: LoopOrder) {
    switch order {
    case .drain(let limit): drain(within: limit)
    case .adoptSettings: adoptSettings()
    }
  }

  private func adoptSettings() {
    do throws(CryptoError) {
      try provider.adoptSettings()
      let (tls, settings) = (shared.settings.value.tls, Self.serverConfiguration(shared).settings)
      for server in servers { (server.tls, server.settings) = (tls, settings) }
    } catch {
      // The same keys have just been read: OpenSSL has no memory left for them.
      preconditionFailure("a loop cannot prepare its keys: \(error)")
    }
  }

  /// First the clients, whose open requests may still bring pushes; then the upstreams.
  private func drain(within limit: TimeSpan) {
    guard !isDraining else { return }
    isDraining = true
    serversOpen = servers.count
    deadline = loop.makeTimer { [unowned self] in provider.abort() }
    deadline?.arm(after: limit)
    // In time for the answers to be written before the connections are closed.
    provider.answerAll(within: .milliseconds(max(0, limit.milliseconds - Limits.drainAnswerMilliseconds)))
    for server in servers {
      server.drain(within: limit) { [unowned self] in
        serversOpen -= 1
        if serversOpen == 0 { provider.drain() }
      }
    }
  }

  /// Ends the loop once every client is gone and every push that was on its way has its outcome.
  private func endIfDrained() {
    guard isDraining, serversOpen == 0 else { return }
    let load = provider.load
    if load.inFlight == 0 && load.queued == 0 { loop.stop() }
  }
}
