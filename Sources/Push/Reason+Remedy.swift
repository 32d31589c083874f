extension Reason {
  /// What a request answered with this reason did, and how to mend it.
  public var remedy: Remedy {
    switch self {
    case .badCollapseID:
      Remedy("The apns-collapse-id is longer than 64 bytes.", "Shorten it to 64 bytes of UTF-8, or leave the header out.")
    case .badDeviceToken:
      Remedy(
        "The push token is not hexadecimal, is not registered, or belongs to the other APNs environment.",
        "Send the token's bytes as hexadecimal and register it first; a build run from Xcode has a development token, TestFlight and the App Store a production one."
      )
    case .badExpirationDate:
      Remedy(
        "The apns-expiration is not a whole number of Unix seconds; or a broadcast has none, or has one for a channel that stores nothing.",
        "Send seconds without a fraction, such as 1700000000, or 0 for a single attempt; a broadcast always needs it.")
    case .badMessageID:
      Remedy(
        "The apns-id is not a UUID in canonical form.",
        "Send 32 hexadecimal digits grouped 8-4-4-4-12, or leave the header out to have an id made.")
    case .badPriority:
      Remedy(
        "The apns-priority is not 10, 5 or 1, or it is 10 for a background push.",
        "Send 10 for at once, 5 to spare the device's power and for background pushes, or leave the header out, which means 10.")
    case .badTopic:
      Remedy(
        "The apns-topic cannot be a bundle id with a suffix: it is too long or has a space or another character that none has.",
        "Send the app's bundle id and the suffix of the push type, such as com.example.app.push-type.widgets.")
    case .deviceTokenNotForTopic:
      Remedy(
        "The token was registered for another app, or for another kind of push, than the topic names.",
        "Send widget tokens with the suffix .push-type.widgets, control tokens with .push-type.controls, activity and push-to-start tokens with .push-type.liveactivity, VoIP tokens with .voip, and an app's device token with the bare bundle id."
      )
    case .duplicateHeaders:
      Remedy(
        "A header that may stand once was sent twice.",
        "Look for a library or proxy that adds authorization or an apns- header which your code sets as well.")
    case .idleTimeout:
      Remedy(
        "The request's body did not arrive in time.", "Send the whole body at once and set END_STREAM on its last DATA frame.")
    case .invalidPushType:
      Remedy(
        "The apns-push-type is unknown or does not fit the topic.",
        "Send alert and background with the bare bundle id, and every other type with its own suffix, such as .push-type.widgets or .voip.")
    case .missingDeviceToken:
      Remedy("The path ends after /3/device/ without a token.", "Append the token; the variable that should hold it is probably empty.")
    case .missingTopic:
      Remedy(
        "There is no apns-topic, which every request needs unless its connection has a client certificate for one topic alone.",
        "Set apns-topic to the bundle id followed by the push type's suffix.")
    case .payloadEmpty:
      Remedy(
        "The request has no body.", "Send a JSON object; to reload widgets or a control it is {\"aps\":{\"content-changed\":true}}.")
    case .topicDisallowed:
      Remedy(
        "The provider key or the client certificate may not send to this topic: its suffix does not exist or stands twice, or the app is not known here, or not among the key's apps or the certificate's topics.",
        "Set apns-topic as detail says, and send activity and location pushes with a provider token; widgetpush dev takes an unknown app with --app BUNDLE, or every app with --any-app, and a gateway lists it under apps."
      )
    case .badPayload:
      Remedy(
        "A device would drop this payload, or the field that detail names, without telling anyone, so strict validation refuses it.",
        "Correct the field that detail names; with validation set to apple the push would pass with a warning.")
    case .badCertificate:
      Remedy(
        "The client certificate is not one that may send pushes: it names no topic, its list of topics cannot be read, or it has expired.",
        "Use a push certificate of the developer account, with the bundle id as UID, and renew it every year; or send a provider token instead."
      )
    case .badCertificateEnvironment:
      Remedy(
        "The client certificate belongs to the other APNs environment.",
        "Use a development certificate with api.sandbox.push.apple.com and a production one with api.push.apple.com.")
    case .expiredProviderToken:
      Remedy(
        "The provider token's iat is more than an hour old.",
        "Sign a new token every 20 to 60 minutes, set the sender's clock right, and go on with a new connection.")
    case .forbidden:
      Remedy(
        "The provider is not allowed to do this.",
        "Send with a key of the app's own team that is not limited to other apps.")
    case .invalidProviderToken:
      Remedy(
        "The provider token cannot be read, or its signature, key id, team id or time is wrong.",
        "Sign with ES256 and the .p8 key, with the key id as kid, the team id as iss and the Unix time in seconds as iat.")
    case .missingProviderToken:
      Remedy(
        "There is no authorization header with a provider token, and the connection has no client certificate.",
        "Send authorization: bearer and the JWT, which the command widgetpush token prints; or show a certificate in the TLS handshake.")
    case .unrelatedKeyIDInToken:
      Remedy(
        "The provider token's key is not related to the first one used on this connection.", "Open a connection for each key.")
    case .badEnvironmentKeyInToken:
      Remedy(
        "The provider key is limited to the other APNs environment.", "Sign with a key of this environment, or send to the other host.")
    case .missingChannelID:
      Remedy("There is no apns-channel-id.", "Send the channel's id in the header apns-channel-id; it does not belong into the path.")
    case .badChannelID:
      Remedy(
        "The apns-channel-id is not one that was ever given out here for this app and environment.",
        "Send the id byte for byte as the creation's answer had it, in base 64 with its +, / and =, to the environment it was made in.")
    case .channelNotRegistered:
      Remedy("The channel has been deleted.", "Create another, and have new activities subscribe to it; ids are never used again.")
    case .missingPushType:
      Remedy("There is no apns-push-type, which a broadcast needs.", "Set apns-push-type to liveactivity.")
    case .badRequestParams:
      Remedy(
        "The body has an attribute that is unknown, or a known one that is missing or has a value it cannot have.",
        "Send {\"message-storage-policy\":1,\"push-type\":\"LiveActivity\"} with the policy 0 or 1, and nothing else.")
    case .badRequestPayload:
      Remedy(
        "The body is not a JSON object.", "Send {\"message-storage-policy\":1,\"push-type\":\"LiveActivity\"} with the policy 0 or 1.")
    case .cannotCreateChannelConfig:
      Remedy(
        "The app has as many channels in this environment as it may have.",
        "Delete channels that are over, listed by GET /1/apps/BUNDLE/all-channels, and use one channel for every follower of an event.")
    case .broadcastFeatureNotEnabled:
      Remedy(
        "The app may not broadcast.",
        "Set broadcast to true for the app here; at Apple enable the broadcast capability of its app id in the developer account.")
    case .topicMismatch:
      Remedy(
        "The app in the path is not known here, or is not among those that the provider key or the client certificate may serve.",
        "Put the bare bundle id into the path, and sign with a key of the app's own team, or show a certificate that names it.")
    case .badPath:
      Remedy(
        "The path is not one that the provider API has, or the channel to delete does not exist.",
        "Send pushes to /3/device/ followed by the push token in hexadecimal, broadcasts to /4/broadcasts/apps/BUNDLE, and manage channels at /1/apps/BUNDLE/channels."
      )
    case .methodNotAllowed:
      Remedy("The path does not take the request's method.", "Send pushes and broadcasts with POST; curl does so when it is given -d.")
    case .expiredToken:
      Remedy("The push token has expired.", "Delete the token, and wait for the app to report its successor.")
    case .unregistered:
      Remedy(
        "The token is no longer active for the topic: the app or its last widget is gone, or the activity is over.",
        "Stop sending to it, unless the app registered it again after the timestamp in the answer.")
    case .payloadTooLarge:
      Remedy(
        "The body is larger than its push type allows, which is 4096 bytes and 5120 for voip and broadcasts.",
        "Send less: a reload carries no state, and a content-state needs only what the activity shows.")
    case .tooManyProviderTokenUpdates:
      Remedy(
        "New provider tokens came more often than once in 20 minutes.",
        "Sign one token, share it among all workers, and keep it for 20 to 60 minutes.")
    case .tooManyRequests:
      Remedy(
        "Too many pushes wait for this token already (\(Limits.lanePushes) unless configured otherwise), or its budget is spent and the app's budgetMode is reject.",
        "Gather changes on your side and send one push for the last of them; the command widgetpush budget shows when the next credit comes."
      )
    case .internalServerError:
      Remedy("The server met a fault of its own.", "Send the push again after a while, and read the server's log for the fault.")
    case .serviceUnavailable:
      Remedy(
        "The server can store no push right now.",
        "Send the push again, waiting longer each time; the gateway's /readyz says what is wrong.")
    case .shutdown:
      Remedy("The server is shutting down.", "Send the push again on a new connection.")
    }
  }
}
