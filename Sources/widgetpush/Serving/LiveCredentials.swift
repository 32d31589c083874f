import Configuration
import MockDevice
import Synchronization

/// What `credentials.json` of a state folder says at the moment: where its servers are, and by which access tokens they let in.
///
/// Safe to use from any thread. The file is read only when it has changed.
final class LiveCredentials: Sendable {
  private struct Known {
    var stamp: Files.Stamp?
    var content: Result<Credentials?, CommandError>
  }

  private let folder: StateFolder
  private let known = Mutex<Known?>(nil)

  /// Those of `folder`.
  init(_ folder: StateFolder) { self.folder = folder }

  /// What it says now; nil where there is no such file, and an error where it is damaged.
  var current: Result<Credentials?, CommandError> {
    let stamp = Files.stamp(folder.file("credentials.json"))
    return known.withLock { known in
      if let known, known.stamp == stamp { return known.content }
      let content = Result { () throws(CommandError) in try folder.existingCredentials() }
      known = Known(stamp: stamp, content: content)
      return content
    }
  }

  /// Where the mock device is; nil where none runs with the folder.
  var device: (host: String, port: UInt16)? {
    guard case .success(let credentials?) = current else { return nil }
    return credentials.device.flatMap { UpstreamSettings.hostAndPort(of: $0) }
  }

  /// Where a device's gateway is: the configured one with what the folder has for it, else the one that runs with the folder. The two may
  /// start in any order, and the gateway may start again on another port, or with other access tokens.
  func gateway(_ configured: DeviceConfiguration.Gateway?, trusting authorityPEM: String) -> GatewayWhereabouts {
    switch current {
    case .failure(let error): return .unknown("\(error)")
    case .success(let credentials):
      let gateway = credentials.flatMap { DeviceConfiguration.gateway(configured, with: $0, trusting: authorityPEM) }
      return gateway.map { .found($0) } ?? .unknown("none runs with the state folder \(folder.path)")
    }
  }
}
