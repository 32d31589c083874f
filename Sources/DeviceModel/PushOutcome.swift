public import Primitives
public import Push

/// A push as the device gets it: what its headers say, already checked.
public struct ReceivedPush: Sendable {
  /// `apns-id`.
  public var id: PushID
  /// The token of the path.
  public var token: DeviceToken
  /// `apns-push-type`.
  public var type: PushType
  /// `apns-collapse-id`; nil without one, and where it does not matter.
  public var collapseID: String?

  /// A push with these values.
  public init(id: PushID, token: DeviceToken, type: PushType, collapseID: String? = nil) {
    self.id = id
    self.token = token
    self.type = type
    self.collapseID = collapseID
  }
}

/// What a device made of a push: how it answers, and what the `widgetpush-outcome` header says.
public enum PushOutcome: Sendable, Equatable {
  /// 200; the device did it.
  case applied(Cause, detail: String?)
  /// 200; the device did nothing, for this cause.
  case ignored(Cause, detail: String?)
  /// An error, with the instant that a 410 names.
  case refused(Reason, since: Instant?, detail: String?)

  /// What became of the push.
  public var disposition: Disposition {
    switch self {
    case .applied: .applied
    case .ignored: .ignored
    case .refused: .refused
    }
  }

  /// Why; `none` for a refusal, whose reason tells.
  public var cause: Cause {
    switch self {
    case .applied(let cause, _), .ignored(let cause, _): cause
    case .refused: .none
    }
  }

  /// More, as one sentence.
  public var detail: String? {
    switch self {
    case .applied(_, let detail), .ignored(_, let detail), .refused(_, _, let detail): detail
    }
  }

  /// It, with one more remark at the end of its detail; a refusal stays as it is.
  func adding(_ remark: String?) -> PushOutcome {
    guard let remark else { return self }
    let longer = detail.map { "\($0); \(remark)" } ?? remark
    switch self {
    case .applied(let cause, _): return .applied(cause, detail: longer)
    case .ignored(let cause, _): return .ignored(cause, detail: longer)
    case .refused: return self
    }
  }
}
