public import JSON
public import Primitives
import Push
import Rules

/// How far teaching the gateway an app's own schemas of one type has come.
enum TeachingState: Hashable, Sendable {
  case pending, taught
  /// The gateway has others, or none, for that reason.
  case refused(String)
}

// What the apps' activities decode from. The gateway is its home: it is told what an app brings along, and asked before a push is judged.
extension DeviceFleet {
  /// The schemas of an attributes type: the gateway's where it has some, else what the app itself declares.
  ///
  /// What the gateway took from the app and has no more was removed there, and is gone here, too, until the app teaches it anew.
  func schemas(of attributesType: String, at place: AppPlace) -> ActivitySchemas? {
    let bundleID = self[place].bundleID
    if let known = learnedSchemas[bundleID]?.schemas(of: attributesType) { return known }
    return isRemoved(attributesType, bundleID) ? nil : manifest(at: place).schemas.schemas(of: attributesType)
  }

  private func isRemoved(_ attributesType: String, _ bundleID: String) -> Bool {
    guard let learned = learnedSchemas[bundleID], learned.schemas(of: attributesType) == nil else { return false }
    return teachings[bundleID]?[attributesType] == .taught
  }

  /// Takes what the gateway knows of an app.
  public mutating func learn(_ schemas: [ActivitySchemas], of bundleID: String) {
    if learnedSchemas[bundleID] == nil, learnedSchemas.count >= Limits.apps { learnedSchemas.removeAll() }
    learnedSchemas[bundleID] = schemas
  }

  /// Has the gateway told of the schemas that an app brings along, as one that is installed from Xcode would bring them.
  ///
  /// - Parameter old: What it declared before; what has not changed since, and was taken, is not brought again. Nil where it is new.
  mutating func teach(at place: AppPlace, since old: AppManifest? = nil) {
    guard registersTokens else { return }
    let bundleID = self[place].bundleID
    for schemas in self[place].manifest.schemas {
      let type = schemas.attributesType
      if let old, old.schemas.schemas(of: type) == schemas, teachings[bundleID]?[type] == .taught { continue }
      // No token, and a name like one.
      let name = mint.token(.app, path: ["schemas", bundleID, type], generation: 0)
      teachings[bundleID, default: [:]][type] = .pending
      effects.append(.teach(name, bundleID: bundleID, schemas))
    }
    forgetTeachings(of: bundleID)
  }

  /// Forgets what became of types that no manifest of the app has any more, once they are more than one manifest may have.
  private mutating func forgetTeachings(of bundleID: String) {
    guard let states = teachings[bundleID], states.count > Limits.activitiesPerApp else { return }
    let apps = devices.values.lazy.flatMap(\.apps).filter { !$0.isAdopted && $0.bundleID == bundleID }
    let declared = Set(apps.flatMap { $0.manifest.schemas.map(\.attributesType) })
    teachings[bundleID] = states.filter { declared.contains($0.key) }
  }

  /// Whether the gateway has yet to be told of schemas of the app.
  func isTeaching(_ bundleID: String, _ manifest: AppManifest) -> Bool {
    manifest.schemas.contains { teachings[bundleID]?[$0.attributesType] == .pending }
  }

  /// Records what became of teaching; of no interest when the app is gone.
  ///
  /// - Parameter refusal: Why the gateway keeps what it has; nil when it took the schemas.
  public mutating func noteTeaching(bundleID: String, _ schemas: ActivitySchemas, refusal: String?, at now: Instant) {
    let type = schemas.attributesType
    guard teachings[bundleID]?[type] != nil else { return }
    teachings[bundleID]?[type] = refusal.map(TeachingState.refused) ?? .taught
    guard let refusal else {
      // What it was told before says nothing of these.
      learnedSchemas[bundleID] = learnedSchemas[bundleID]?.replaced(by: [schemas])
      return
    }
    var event = DeviceEvent(.registrationFailed, at: now, bundleID: bundleID)
    event.detail = "the schemas of \(type) that the app declares are not taken: \(refusal)"
    log.append(event)
  }

  /// The schemas of an app's types as its state shows them: whose they are, and why not the app's own.
  func schemasState(of app: App) -> JSONValue {
    let declared = app.manifest.schemas.filter { !isRemoved($0.attributesType, app.bundleID) }
    let learned = learnedSchemas[app.bundleID] ?? []
    return .array(
      learned.replaced(by: declared.filter { learned.schemas(of: $0.attributesType) == nil }).map { known in
        let isLearned = learned.schemas(of: known.attributesType) != nil
        var object: JSONObject = [
          "attributesType": .string(known.attributesType), "origin": .string(isLearned ? "gateway" : "manifest"),
        ]
        for (key, value) in known.source.objectValue ?? [:] { object[key] = value }
        if case .refused(let reason)? = teachings[app.bundleID]?[known.attributesType] { object["notTaken"] = .string(reason) }
        return .object(object)
      })
  }

  /// Why what is sent to an activity would not decode; nil when it would, as far as its schemas are known.
  func problem(attributes: JSONObject?, contentState: JSONObject?, of attributesType: String, at place: AppPlace) -> SchemaProblem? {
    let mismatches = mismatches(attributes, contentState, of: attributesType, at: place)
    return mismatches.allSatisfy(\.isDecodable) ? nil : SchemaProblem(mismatches)
  }

  private func mismatches(
    _ attributes: JSONObject?, _ contentState: JSONObject?, of attributesType: String, at place: AppPlace
  ) -> [CodableMismatch] {
    schemas(of: attributesType, at: place)?.mismatches(
      attributes: attributes.map(JSONValue.object), contentState: contentState.map(JSONValue.object), now: now) ?? []
  }

  /// What to say of attributes and a content-state that were taken: what is odd about them, and what was there to check by nothing.
  func remark(attributes: JSONObject?, contentState: JSONObject?, of attributesType: String, at place: AppPlace) -> String {
    let schemas = schemas(of: attributesType, at: place)
    var remark = ""
    // What a silent gateway may know is not unknown; that it was not asked is said of the whole push.
    let isTold = gatewaySilence == nil
    if isTold, let contentState, !contentState.isEmpty, schemas?.contentState == nil {
      let isAdopted = attributesType == DeviceFleet.adoptedKind
      let what = isAdopted ? "the type of its attributes is not known" : "no schema is known for \(attributesType)"
      remark += "; \(what), so its content-state was \(Remedy.uncheckedMark)"
    }
    if isTold, let attributes, !attributes.isEmpty, schemas?.attributes == nil {
      remark += "; nothing is known of its attributes, which were \(Remedy.uncheckedMark)"
    }
    let mismatches = mismatches(attributes, contentState, of: attributesType, at: place)
    return remark + (mismatches.isEmpty ? "" : "; \(SchemaProblem.sentence(mismatches))")
  }
}
