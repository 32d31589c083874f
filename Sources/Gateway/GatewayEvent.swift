public import Control
public import HTTP2
public import Primitives
public import Push
public import Security
public import Storage
public import Transport

public import struct Reactor.SocketAddress

/// Something that a person who watches a gateway wants to see at once; `dev` prints each with its remedy.
public enum GatewayEvent: Sendable {
  /// A request that was answered with an error.
  case refused(RefusedRequest)
  /// An accepted push that its device, or a budget, let pass.
  case ignored(IgnoredRequest)
  /// A push that went at priority 5, since its budget could not pay for 10.
  case lowered(LoweredRequest)
  /// An accepted push, or a broadcast, with a key, a header or a date that does not do what was meant.
  case warned(WarnedRequest)
  /// A request that breaks the rules of HTTP/2, so that it has no answer: its stream was reset.
  case malformed(RejectedRequest)
  /// A connection to the provider face that failed, mostly before it carried a request.
  case connectionFailed(ConnectionFailure)
  /// A connection that was turned away because its client's certificate may not send there.
  case certificateRefused(RefusedCertificate)
  /// A connection from there brings new provider tokens more often than Apple's servers take them; told at most every 20 minutes.
  case tooManyTokenUpdates(SocketAddress)
  /// A connection from there was closed, since it has brought nothing but provider tokens that are none.
  case invalidProviderTokens(SocketAddress)
  /// An upstream's last connection has failed, or could not be made.
  case upstreamFailed(name: String, address: String, ConnectionEnd)
  /// An upstream can be reached.
  case upstreamOpened(name: String)
  /// The store takes no pushes, for that reason; they are answered 503 until it does.
  case storeFailed(String)
  /// The store takes pushes again.
  case storeRecovered
  /// Something is wrong with the store, which takes pushes all the same; or is not any more.
  case storeWarning(StoreWarning, holds: Bool)
  /// The machine's clock was set ahead by so much, or back where it is negative.
  case clockSet(by: TimeSpan)
  /// Somebody has called, or tried to call, what only the scope `admin` may.
  case adminCall(AdminCall)
  /// The gateway's own provider token cannot be made.
  case cannotSign(upstream: String, CryptoError)
}

extension GatewayEvent {
  /// The store has become ready, or has stopped being so.
  init(_ readiness: Readiness) {
    switch readiness {
    case .ready: self = .storeRecovered
    case .notReady(let why): self = .storeFailed(why)
    }
  }
}

/// A push that went at priority 5 in place of 10.
public struct LoweredRequest: Sendable {
  /// The id that was answered.
  public var id: PushID
  /// Where it goes.
  public var token: DeviceToken
  /// The push type.
  public var type: PushType
  /// What is spent and when the next is back.
  public var detail: String

  /// A push with these values.
  public init(id: PushID, token: DeviceToken, type: PushType, detail: String) {
    self.id = id
    self.token = token
    self.type = type
    self.detail = detail
  }
}

/// A client certificate that leads to a trusted authority, and yet may send nothing.
public struct RefusedCertificate: Sendable {
  /// Who has shown it.
  public var peer: SocketAddress
  /// The server name that the client asked for in its handshake (SNI).
  public var serverName: String?
  /// The common name of its subject.
  public var name: String
  /// What the client was told in the GOAWAY: `badCertificate` or `badCertificateEnvironment`.
  public var reason: Reason
  /// What is wrong with it.
  public var detail: String

  /// A certificate with these values.
  public init(peer: SocketAddress, serverName: String?, name: String, reason: Reason, detail: String) {
    self.peer = peer
    self.serverName = serverName
    self.name = name
    self.reason = reason
    self.detail = detail
  }
}

/// A malformed request to the provider or the control API.
public struct RejectedRequest: Sendable {
  /// Who has sent it.
  public var peer: SocketAddress
  /// The server name that the client asked for in its handshake (SNI).
  public var serverName: String?
  /// What is wrong with it.
  public var request: MalformedRequest
  /// How many others were malformed since the last that was told.
  public var others: Int

  /// A request with these values.
  public init(peer: SocketAddress, serverName: String?, request: MalformedRequest, others: Int) {
    self.peer = peer
    self.serverName = serverName
    self.request = request
    self.others = others
  }
}

/// A push that was accepted and did nothing.
public struct IgnoredRequest: Sendable {
  /// The id that was answered; nil for a broadcast.
  public var id: PushID?
  /// Where it was to go; nil for a broadcast.
  public var token: DeviceToken?
  /// The push type.
  public var type: PushType
  /// Why it did nothing.
  public var cause: Cause
  /// What the device had to say; empty when nothing.
  public var detail: String

  /// An ignored push with these values.
  public init(id: PushID?, token: DeviceToken?, type: PushType, cause: Cause, detail: String) {
    self.id = id
    self.token = token
    self.type = type
    self.cause = cause
    self.detail = detail
  }
}

/// A push, or a broadcast, that was accepted with warnings which say more than their sentences.
public struct WarnedRequest: Sendable {
  /// The id that was answered.
  public var id: PushID
  /// Where it is to go; nil for a broadcast.
  public var token: DeviceToken?
  /// The push type.
  public var type: PushType
  /// What the warnings are about.
  public var details: [WarningDetail]

  /// A push with these warnings.
  public init(id: PushID, token: DeviceToken?, type: PushType, details: [WarningDetail]) {
    self.id = id
    self.token = token
    self.type = type
    self.details = details
  }
}

/// A request that was answered with an error, as far as it was understood.
public struct RefusedRequest: Sendable {
  /// The id that was answered.
  public var id: PushID
  /// The token from the path.
  public var token: DeviceToken?
  /// The push type.
  public var type: PushType?
  /// The reason.
  public var reason: Reason
  /// Which of the reason's causes it was; `none` where there is one only.
  public var cause = Cause.none
  /// The header, part of the path or payload field at fault; empty when none is.
  public var field: String
  /// What is wrong and what would be right.
  public var detail: String
}
