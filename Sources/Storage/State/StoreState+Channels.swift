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

  /// The same of a channel that an app itself wants to follow.
  ///
  /// - Parameter environment: The one that the app runs in; nil takes a channel of either.
  func missingChannel(_ channel: ChannelID, bundleID: String, in environment: PushEnvironment?) -> String? {
    let environments = environment.map { [$0] } ?? PushEnvironment.allCases
    var wasDeleted = false
    for environment in environments {
      guard !settings.appleUpstreams.contains(routes.resolver.upstream(bundleID, environment, nil)) else { return nil }
      guard let found = casts.channels.find(channel, ChannelOwner(bundleID: bundleID, environment: environment)) else { continue }
      guard found.isDeleted else { return nil }
      wasDeleted = true
    }
    if wasDeleted { return "the channel \(channel) was deleted" }
    let place = environment.map { " in \($0.name)" } ?? ""
    return
      "\(bundleID) has no channel \(channel)\(place); create it first, and follow the id that the answer has, in the same environment"
  }
}
