import Primitives
import Push

/// What a backend asks of an activity by name.
public struct ActivityRequest: Hashable, Sendable {
  /// The app.
  public var bundleID: String
  /// The backend's name for it.
  public var name: String
  /// Where it is shown; nil where it stays as it is.
  public var target: NamedActivity.Target?
  /// The Swift type of its attributes; nil where it stays as it is.
  public var attributesType: String?
  /// Its attributes, an object as JSON text; nil where they stay as they are.
  public var attributes: String?
  /// What it shows.
  public var content: NamedActivity.Content

  /// A request with these values.
  public init(
    bundleID: String, name: String, target: NamedActivity.Target? = nil, attributesType: String? = nil, attributes: String? = nil,
    content: NamedActivity.Content
  ) {
    self.bundleID = bundleID
    self.name = name
    self.target = target
    self.attributesType = attributesType
    self.attributes = attributes
    self.content = content
  }
}

/// What became of such a request.
public enum ActivityAnswer: Hashable, Sendable {
  /// It is new.
  case begun
  /// It is there, and shows what was asked for, or will.
  case there
  /// A field is missing that a new one must have.
  case missing(field: String)
  /// A field differs from what has been started with.
  case fixed(field: String)
  /// It is being ended.
  case isEnding
  /// There are as many as there may be.
  case tooMany(ActivityRefusal)
}

extension Store {
  /// Begins an activity by name, or has it show other content; durable when it answers.
  public func show(_ request: ActivityRequest) async throws(StoreError) -> ActivityAnswer {
    try await change { core throws(StoreError) in
      let tokens = try core.tokens(for: request)
      return core.state.show(request, tokens, at: core.now)
    }
  }

  /// Ends an activity by name, with a last content-state where one is given; durable when it answers. False when there is none, or it has
  /// ended.
  public func endActivity(
    bundleID: String, name: String, state: String?, dismissalDate: String?
  ) async throws(StoreError) -> Bool {
    try await change { core in
      guard let number = core.state.errands.activities.number(bundleID, name) else { return false }
      let now = core.now
      core.state.errands.changeActivity(number) { $0.expire(at: now) }
      guard core.state.errands.activities[number]?.phase != .ended else { return false }
      core.state.errands.changeActivity(number) { $0.end(state: state, dismissalDate: dismissalDate, at: now) }
      return true
    }
  }

  /// The activity of that name, and what became of the latest of its pushes; nil when there is none.
  public func activity(bundleID: String, name: String) async throws(StoreError) -> (activity: NamedActivity, pushes: [PushRecord])? {
    try await ask { core in
      guard let number = core.state.errands.activities.number(bundleID, name) else { return nil }
      let now = core.now
      core.state.errands.changeActivity(number) { $0.expire(at: now) }
      guard let activity = core.state.errands.activities[number] else { return nil }
      return (activity, activity.pushes.compactMap { core.state.records(of: $0.id, all: false).first })
    }
  }

  /// One page of the activities of apps that the caller may see, by app and name, and whether there are more.
  public func activities(
    bundleID: String?, visibleBundleIDs: Set<String>?, after: (bundleID: String, name: String)?, limit: Int
  ) async throws(StoreError) -> (page: [NamedActivity], hasMore: Bool) {
    try await ask { core in
      let apps = bundleID.map { visibleBundleIDs?.contains($0) ?? true ? [$0] : [] } ?? visibleBundleIDs
      return core.state.errands.activities.page(
        of: apps, after: after.map { ActivityTable.Name(bundleID: $0.bundleID, name: $0.name) }, limit: max(1, min(limit, Limits.pageRows)))
    }
  }
}

extension StoreCore {
  /// What is registered of the user or device of a request: the push-to-start tokens, and activities called by its name.
  func tokens(for request: ActivityRequest) throws(StoreError) -> [Registration] {
    let present = state.errands.activities.number(request.bundleID, request.name).flatMap { state.errands.activities[$0] }
    guard let target = request.target ?? present?.target else { return [] }
    var found: [Registration] = []
    for kind in [TokenKind.pushToStart, .liveactivity] {
      var query = RegistrationQuery(bundleID: request.bundleID, kind: kind, limit: Limits.activityRegistrations)
      switch target {
      case .user(let name): query.user = name
      case .device(let name): query.device = name
      }
      var rows = try engine.registrations(query).map(\.0)
      // What this round has changed is not in the engine yet.
      for change in state.registrationChanges {
        switch change {
        case .put(let registration, _):
          rows.removeAll { $0.token == registration.token }
          if query.matches(registration) { rows.append(registration) }
        case .remove(let token): rows.removeAll { $0.token == token }
        }
      }
      found += rows
    }
    return found.filter { $0.kind == .pushToStart || $0.activity?.id == request.name }
  }
}

extension StoreState {
  /// Begins an activity by name, or has it show other content.
  ///
  /// - Parameter registrations: What is registered of its user or device that may serve it.
  mutating func show(_ request: ActivityRequest, _ registrations: [Registration], at now: Instant) -> ActivityAnswer {
    let living = registrations.filter { registration in
      tokens.find(registration.token).map { tokens[$0].pointee.isActive && !tokens[$0].pointee.isRetired } ?? false
    }
    let present = errands.activities.number(request.bundleID, request.name)
    if let present { errands.changeActivity(present) { $0.expire(at: now) } }
    guard let number = present, let activity = errands.activities[number], activity.phase != .ended else {
      return begin(request, living, replacing: present, at: now)
    }
    guard activity.phase == .running else { return .isEnding }
    if !activity.isUnstarted {
      if let target = request.target, target != activity.target { return .fixed(field: target.field) }
      if let type = request.attributesType, type != activity.attributesType { return .fixed(field: "attributesType") }
      if let attributes = request.attributes, attributes != activity.attributes { return .fixed(field: "attributes") }
    }
    errands.changeActivity(number) { activity in
      _ = activity.show(request.content, at: now)
      guard activity.isUnstarted else { return }
      activity.target = request.target ?? activity.target
      activity.attributesType = request.attributesType ?? activity.attributesType
      activity.attributes = request.attributes ?? activity.attributes
      activity.startAlert = request.content.alert ?? activity.startAlert
      activity.retryStarts()
    }
    serve(number, living, at: now)
    return .there
  }

  private mutating func begin(
    _ request: ActivityRequest, _ registrations: [Registration], replacing old: UInt32?, at now: Instant
  ) -> ActivityAnswer {
    guard let target = request.target else { return .missing(field: "user") }
    guard let attributesType = request.attributesType else { return .missing(field: "attributesType") }
    guard request.content.alert != nil else { return .missing(field: "alert") }
    func activity(_ id: PushID) -> NamedActivity {
      NamedActivity(
        id: id, bundleID: request.bundleID, name: request.name, target: target, attributesType: attributesType,
        attributes: request.attributes ?? "{}", content: request.content, at: now)
    }
    let bytes = activity(PushID(high: 0, low: 0)).textBytes
    if let refusal = errands.makeRoom(for: request.bundleID, replacing: old, bytes: bytes, at: now) { return .tooMany(refusal) }
    let number = errands.begin(activity)
    serve(number, registrations, at: now)
    return .begun
  }

  /// Tells an activity of what is registered already. One that runs under its name is taken before another is started.
  private mutating func serve(_ number: UInt32, _ registrations: [Registration], at now: Instant) {
    guard let type = errands.activities[number]?.attributesType else { return }
    errands.changeActivity(number) { activity in
      for registration in registrations where registration.kind == .liveactivity {
        guard let known = registration.activity, known.attributesType == type else { continue }
        _ = activity.found(updateToken: registration.token, activityID: known.id, device: registration.device, at: now)
      }
      for registration in registrations where registration.kind == .pushToStart {
        activity.found(startToken: registration.token, device: registration.device)
      }
    }
    errands.restless.insert(number)
  }
}

extension NamedActivity.Target {
  /// The field that names it.
  fileprivate var field: String {
    switch self {
    case .user: "user"
    case .device: "device"
    }
  }
}
