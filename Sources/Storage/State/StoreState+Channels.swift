import Primitives
import Push

extension StoreState {
  /// What is wrong with the channel that a start asks to follow; nil where it has one, or where the upstream is Apple's, which has channels
  /// of its own.
  func missingChannel(of operation: AdmitOperation, _ number: UInt32) -> String? {
    guard let channel = operation.channel else { return nil }
    let route = tokens[number].pointee.route
    guard !settings.appleUpstreams.contains(routes[route].pointee.upstream) else { return nil }
    let owner = ChannelOwner(bundleID: routes.bundleID(route), environment: routes[route].pointee.environment)
    switch casts.channels.find(channel, owner) {
    case let found? where !found.isDeleted: return nil
    case .some: return "the channel \(channel) of aps.input-push-channel was deleted"
    case nil: return "\(owner.bundleID) has no channel \(channel) in \(owner.environment.name), which aps.input-push-channel names"
    }
  }
}
