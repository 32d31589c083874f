import Configuration
import Delivery
import Forwarding
import Push
import Security

extension Upstream {
  /// The upstream of these settings; throws when its certificates cannot be read.
  init(_ settings: UpstreamSettings) throws(CryptoError) {
    let trust: TLSContext.Trust = settings.authorityPEM.map { .authorities(pem: $0) } ?? .systemRoots
    self.init(
      name: settings.name, host: settings.host, port: settings.port, tls: try TLSContext.client(trust, protocols: [.http2]))
    pause = settings.pause
  }
}

/// Which upstream a registration's pushes go to, by number.
struct UpstreamRoutes: Sendable {
  private let apps: AppDirectory
  private let names: [String]

  /// Routes for `apps` over the upstreams called `names`, which are numbered in this order.
  init(apps: AppDirectory, names: [String]) {
    self.apps = apps
    self.names = names
  }

  /// The number of the upstream that a registration names, else of its app's for the environment.
  ///
  /// A name that is not configured any more has the number after the last: there is no such upstream, and its pushes wait
  /// for one until they expire. So do those of an app that is not configured any more, whatever its registrations name.
  func number(bundleID: String, _ environment: PushEnvironment, named name: String?) -> UInt16 {
    guard let app = apps.index(of: bundleID) else { return ForwardedPush.upstreamOfNoApp }
    guard let wanted = name ?? apps[app].upstream(environment), let index = names.firstIndex(of: wanted) else { return UInt16(names.count) }
    return UInt16(index)
  }
}
