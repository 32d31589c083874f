public import HTTP2
public import Rules

extension RequestFields {
  /// Where the headers of `exchange` stand in its header bytes.
  public init(_ exchange: Exchange) {
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
    requestID = exchange.range(of: .apnsRequestID)
    let repeated = exchange.duplicates
    if !repeated.isEmpty { duplicate = Self.firstDuplicate(repeated) }
  }

  private static func firstDuplicate(_ names: HeaderNames) -> StaticString? {
    let single: [HeaderName] = [
      .authorization, .apnsID, .apnsPushType, .apnsTopic, .apnsPriority, .apnsExpiration, .apnsCollapseID, .apnsChannelID,
      .apnsRequestID,
    ]
    return single.first { names.contains($0) }?.wireName
  }
}
