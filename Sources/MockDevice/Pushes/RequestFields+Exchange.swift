import HTTP2
import Rules

extension RequestFields {
  /// The fields of a request that came over HTTP/2.
  init(_ exchange: Exchange) {
    self.init()
    method = exchange.range(of: .method)
    path = exchange.range(of: .path)
    authorization = exchange.range(of: .authorization)
    apnsID = exchange.range(of: .apnsID)
    pushType = exchange.range(of: .apnsPushType)
    topic = exchange.range(of: .apnsTopic)
    priority = exchange.range(of: .apnsPriority)
    expiration = exchange.range(of: .apnsExpiration)
    collapseID = exchange.range(of: .apnsCollapseID)
    channelID = exchange.range(of: .apnsChannelID)
    let duplicates = exchange.duplicates
    guard duplicates.rawValue != 0 else { return }
    let once: [HeaderName] = [
      .authorization, .apnsID, .apnsPushType, .apnsTopic, .apnsPriority, .apnsExpiration, .apnsCollapseID, .apnsChannelID,
    ]
    duplicate = once.first { duplicates.contains($0) }?.wireName
  }
}
