import DeviceModel
import Faults
import Primitives
import ProviderAPI
import Push
import Rules
import Security

/// What a push is answered.
struct PushAnswer: Sendable {
  /// The `apns-id`: the sender's, byte for byte, or one made up.
  var id: PushID
  /// What the device made of it; a request that broke a rule is refused before any device sees it.
  var outcome: PushOutcome
}

/// What a broadcast is answered.
struct BroadcastAnswer: Sendable {
  enum Result: Sendable {
    case taken(BroadcastOutcome)
    case refused(Reason, detail: String)
  }

  /// The `apns-request-id`.
  var id: PushID
  /// What the devices made of it, or why it got to none.
  var result: Result
}

/// What becomes of a push's request at once.
enum PushSettlement {
  case answered(PushAnswer)
  /// Nobody has described the token here, and the gateway may: the push is to be held until it has been asked, then settled again.
  case unknown(DeviceToken)
  /// The gateway may know other schemas of its app than this mock: the push is to be held until it has been asked, then settled again.
  case uninformed(bundleID: String)
  /// A fault may strike it, which is to be seen before it is settled again.
  case exposed(ExposedPush)
}

/// What becomes of a broadcast's request at once.
enum BroadcastSettlement {
  case answered(BroadcastAnswer)
  /// As of a push.
  case uninformed(bundleID: String)
  /// A fault may strike it, which is to be seen before it is settled again.
  case exposed(ExposedPush)
}

/// A push, or a broadcast, that a fault may strike.
struct ExposedPush: Sendable {
  var id: PushID
  /// Nil for a broadcast.
  var token: DeviceToken?
  var bundleID: [UInt8]
  var type: PushType
}

/// How far a push has come before it is settled.
enum PushProgress: Sendable {
  /// It has just come.
  case new
  /// It was held, and is not held again, whatever is known of its token.
  case held
  /// The schemas of its app were asked for, too.
  case informed
  /// Nothing more comes between it and its device.
  case spared
}

/// Where all pushes to this mock end, on its loop: each is checked as Apple would check it, then given to the fleet.
///
/// A plain reload of a known token costs the rules' one pass and one look-up: no task, no tree, no allocation.
final class PushDesk {
  private let keeper: FleetKeeper
  private let faults: FaultBook
  private let rules: RequestRules
  private var memory: RequestMemory
  private let random = RandomPool()

  /// A desk for the pushes of these providers; throws when OpenSSL cannot use a key.
  ///
  /// - Parameter keys: Their public keys, in the order of `providers`.
  init(
    _ keeper: FleetKeeper, faults: FaultBook, providers: ProviderDirectory, keys: [P256PublicKey]
  ) throws(CryptoError) {
    self.keeper = keeper
    self.faults = faults
    // Whatever APNs accepts comes this far; what a device ignores of it is the device's to say.
    var policy = AppPolicy()
    policy.validation = .apple
    rules = RequestRules(apps: AppDirectory([], anyApp: AppDirectory.App(bundleID: "", policy: policy)), providers: providers)
    memory = RequestMemory(
      verifier: try ProviderSignatures(keys: keys), capacity: Limits.providerTokenVerdicts, seed: random.next())
  }

  /// Checks the request and applies its push.
  ///
  /// - Parameters:
  ///   - headers: The bytes that the ranges of `fields` refer to.
  ///   - bodyBytesTotal: The bytes of body that were received, of which `body` may hold only the first.
  ///   - progress: What it has gone through; a push that did not come by HTTP/2 is `spared` where it was held.
  func settle(
    _ fields: RequestFields, headers: RawSpan, body: RawSpan, bodyBytesTotal: Int, _ progress: PushProgress
  ) -> PushSettlement {
    let now = keeper.now
    let time = keeper.takeTime()
    // What connections may do is the gateway's to judge: the tokens here are its own.
    var connection = ConnectionCredentials(source: 0)
    let verdict = rules.evaluate(
      fields, headers: headers, body: body, bodyBytesTotal: bodyBytesTotal, environment: nil, time: time, memory: &memory,
      connection: &connection)
    switch verdict {
    case .refused(let refusal):
      let id = refusal.id ?? generatedID()
      keeper.fleet.note(.pushRefused, token: refusal.token, push: id, detail: "\(refusal.reason): \(refusal.detail)", at: now)
      return .answered(PushAnswer(id: id, outcome: .refused(refusal.reason, since: nil, detail: refusal.detail)))
    case .push(let push):
      let known = keeper.fleet.known(push.token)
      if progress == .new, keeper.asksFirst(about: known, push.type) { return .unknown(push.token) }
      if push.type == .liveactivity, progress == .new || progress == .held {
        let bundleID = headers[push.bundle].string
        if keeper.asksForSchemas(of: bundleID) { return .uninformed(bundleID: bundleID) }
      }
      let id = push.id ?? generatedID()
      if faults.isArmed, progress != .spared {
        return .exposed(ExposedPush(id: id, token: push.token, bundleID: headers[push.bundle].array, type: push.type))
      }
      let collapseID = push.type == .alert && !push.collapseID.isEmpty ? headers[push.collapseID].string : nil
      let received = ReceivedPush(id: id, token: push.token, type: push.type, collapseID: collapseID)
      return .answered(
        PushAnswer(id: id, outcome: keeper.fleet.receive(received, known, bundleID: headers[push.bundle], payload: body, at: now)))
    }
  }

  /// Has the devices' log say what a fault did to a push.
  func note(_ strike: FaultStrike, _ push: ExposedPush) {
    keeper.fleet.note(.pushFaulted, token: push.token, push: push.id, detail: strike.sentence, at: keeper.now)
  }

  /// The present time.
  var now: Instant { keeper.now }

  /// Checks a broadcast and fans it out. The gateway alone manages channels, so every other request of theirs is for a path that is not
  /// served here.
  ///
  /// - Parameter progress: What it has gone through.
  func settleBroadcast(
    _ fields: RequestFields, headers: RawSpan, body: RawSpan, bodyBytesTotal: Int, _ progress: PushProgress
  ) -> BroadcastSettlement {
    let now = keeper.now
    let time = keeper.takeTime()
    var connection = ConnectionCredentials(source: 0)
    let verdict = rules.evaluateBroadcast(
      fields, headers: headers, body: body, bodyBytesTotal: bodyBytesTotal, environment: nil, time: time, memory: &memory,
      connection: &connection)
    switch verdict {
    case .refused(let refusal):
      let id = refusal.id ?? generatedID()
      keeper.fleet.note(.pushRefused, token: nil, push: id, detail: "\(refusal.reason): \(refusal.detail)", at: now)
      return .answered(BroadcastAnswer(id: id, result: .refused(refusal.reason, detail: refusal.detail)))
    case .accepted(let request):
      let id = request.id ?? generatedID()
      guard case .send(let push) = request.action else {
        return .answered(BroadcastAnswer(id: id, result: .refused(.badPath, detail: "channels are managed at the gateway")))
      }
      let bundleID = headers[request.bundle].string
      if progress == .new, keeper.asksForSchemas(of: bundleID) { return .uninformed(bundleID: bundleID) }
      if faults.isArmed, progress != .spared {
        return .exposed(ExposedPush(id: id, token: nil, bundleID: headers[request.bundle].array, type: .liveactivity))
      }
      let outcome = keeper.fleet.receiveBroadcast(
        id, channel: push.channel, bundleID: bundleID, payload: body, at: now)
      return .answered(BroadcastAnswer(id: id, result: .taken(outcome)))
    }
  }

  /// Holds a push until the gateway has been asked about its token; then `resume` settles it again.
  func hold(_ token: DeviceToken, _ resume: @escaping () -> Void) { keeper.hold(token, resume) }

  /// Holds a push, or a broadcast, until the gateway has told the schemas of its app; then `resume` settles it again.
  func hold(schemasOf bundleID: String, _ resume: @escaping () -> Void) { keeper.hold(schemasOf: bundleID, resume) }

  /// Apple's own ids are random and in upper case.
  private func generatedID() -> PushID { PushID(high: random.next(), low: random.next()) }
}
