import Configuration
import MockDevice
import Synchronization

/// Where a device's gateway is, by what the state folder says at the moment: the two may start in any order, and the gateway may start again
/// on another port, or with other access tokens.
///
/// Safe to use from any thread. The file is read only when it has changed.
final class StateGatewayFinder: Sendable {
  private struct Known {
    var stamp: Files.Stamp?
    var whereabouts: GatewayWhereabouts
  }

  private let configured: DeviceConfiguration.Gateway?
  private let folder: StateFolder
  private let authorityPEM: String
  private let known = Mutex<Known?>(nil)

  /// - Parameter configured: The gateway that the configuration names, which stays; the folder may have what leads in.
  init(_ configured: DeviceConfiguration.Gateway?, _ state: DevState) {
    self.configured = configured
    folder = state.folder
    authorityPEM = state.peerAuthorityPEM
  }

  /// Where it is now.
  func find() -> GatewayWhereabouts {
    let stamp = Files.stamp(folder.file("credentials.json"))
    return known.withLock { known in
      if let known, known.stamp == stamp { return known.whereabouts }
      let whereabouts = read()
      known = Known(stamp: stamp, whereabouts: whereabouts)
      return whereabouts
    }
  }

  private func read() -> GatewayWhereabouts {
    do throws(CommandError) {
      let gateway = try folder.existingCredentials().flatMap {
        DeviceConfiguration.gateway(configured, with: $0, trusting: authorityPEM)
      }
      return gateway.map { .found($0) } ?? .unknown("none runs with the state folder \(folder.path)")
    } catch {
      return .unknown("\(error)")
    }
  }
}
