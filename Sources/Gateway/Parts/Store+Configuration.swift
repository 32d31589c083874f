import Configuration
import Delivery
import Primitives
import Push
import Storage

extension GatewayConfiguration {
  /// The engine that keeps the store where the configuration says.
  ///
  /// - Throws: `StoreError`: another process has it, a later version wrote it, or it is no store.
  func openEngine() throws(StoreError) -> any Engine {
    switch store {
    case .folder(let folder)?: try SQLiteEngine(path: folder + "/gateway.sqlite")
    case .memory?, nil: MemoryEngine()
    }
  }

  /// The store's bounds: those of `Limits`, with the length of the log as configured.
  var storeSettings: StoreSettings {
    var settings = StoreSettings()
    settings.waitingBytes = waitingBytes
    settings.upstreams = upstreams.map(\.name)
    settings.appleUpstreams = Set(upstreams.indices.filter { upstreams[$0].isApple }.map { UInt16($0) })
    settings.logEntries = pushLogEntries
    settings.logAge = pushLogAge
    settings.keepsPayloads = pushLogPayloads
    settings.lanePushes = answers.tooManyRequestsAfter
    settings.triesPastExpirations = answers.pastExpiration == .attempt
    for (number, upstream) in upstreams.enumerated() where upstream.serverErrorRetry > .zero {
      settings.serverErrorRetries[UInt16(number)] = Retry(notBefore: upstream.serverErrorRetry)
    }
    return settings
  }
}
