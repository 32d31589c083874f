import JSON
public import Primitives
public import Push

/// The schemas of content-states and attributes that apps have given, each app's at an index.
///
/// Which of an app's types an update is of is known by the registration of its token alone, so an update is compared with all of them, and
/// the store, which knows the registration, goes by the one that counts. A start names its type.
struct ContentStateRules: Sendable {
  /// Those of the apps in the `AppDirectory`, at its indices, then those of apps that are known by its entry for every other app.
  private let types: [[ActivitySchemas]]
  /// Where those of the latter are, by bundle id.
  private let others: [String: Int]
  /// The index in the `AppDirectory` of the entry for every other app; nil where there is none, or no such app has schemas.
  private let anyApp: Int?
  /// Whether no app has any, which spares every other question.
  let isEmpty: Bool

  /// The rules for apps by bundle id; "" has those of every app that has none of its own and is not listed.
  init(_ apps: AppDirectory, _ byBundleID: [String: [ActivitySchemas]]) {
    precondition(byBundleID.values.allSatisfy { $0.count <= Limits.contentStatesPerApp }, "more types than bits")
    var types = (0..<apps.count).map { byBundleID[apps[$0].bundleID] ?? [] }
    var others: [String: Int] = [:]
    let last = apps.count - 1
    let anyApp = last >= 0 && apps[last].bundleID.isEmpty ? last : nil
    if anyApp != nil {
      for (bundleID, own) in byBundleID where apps.index(of: bundleID) == anyApp && !bundleID.isEmpty {
        others[bundleID] = types.count
        types.append(own)
      }
    }
    self.types = types
    self.others = others
    self.anyApp = others.isEmpty ? nil : anyApp
    isEmpty = types.allSatisfy(\.isEmpty)
  }

  /// Where the schemas of that bundle id are, for which the entry at `app` of the `AppDirectory` holds.
  func index(of bundleID: RawSpan, app: Int) -> Int {
    guard app == anyApp else { return app }
    return others[bundleID.string] ?? app
  }

  /// What a start push has against it by the schemas of the type that it names; nil when there are none, or nothing.
  func problemOfStart(_ body: RawSpan, _ index: Int, now: Instant) -> SchemaProblem? {
    guard !types[index].isEmpty, let aps = Self.aps(body), let type = aps["attributes-type"]?.stringValue else { return nil }
    let mismatches = types[index].schemas(of: type)?.mismatches(
      attributes: aps["attributes"], contentState: aps["content-state"], now: now)
    return mismatches.flatMap(SchemaProblem.init)
  }

  /// What to say of the type that a start names where schemas are known of the app and none is that type's; else nil.
  func unknownType(_ body: RawSpan, _ index: Int) -> String? {
    guard !types[index].isEmpty, let name = Self.aps(body)?["attributes-type"]?.stringValue else { return nil }
    return types[index].complaint(about: name)
  }

  /// For each of the app's types, a bit that says whether the content-state is none of it.
  func mismatches(_ body: RawSpan, _ index: Int, now: Instant) -> UInt32 {
    guard !types[index].isEmpty, let state = Self.aps(body)?["content-state"] else { return 0 }
    var bits: UInt32 = 0
    for (bit, type) in types[index].enumerated() where !type.mismatches(attributes: nil, contentState: state, now: now, countMax: 1).isEmpty
    {
      bits |= 1 << UInt32(bit)
    }
    return bits
  }

  /// The same in words.
  func doubts(_ body: RawSpan, _ index: Int, now: Instant) -> [ContentStateDoubt] {
    guard !isEmpty, !types[index].isEmpty, let state = Self.aps(body)?["content-state"] else { return [] }
    return types[index].map { type in
      ContentStateDoubt(
        attributesType: type.attributesType, problem: SchemaProblem(type.mismatches(attributes: nil, contentState: state, now: now)))
    }
  }

  private static func aps(_ body: RawSpan) -> JSONValue? { (try? JSONValue.payload(body))?["aps"] }
}

extension [ActivitySchemas] {
  /// What to say of a type that is none of these; nil where it is one.
  func complaint(about name: String) -> String? {
    guard schemas(of: name) == nil else { return nil }
    let known = map(\.attributesType)
    // A module or an outer type is told by a warning of its own.
    let own = name.split(separator: ".").last.map(String.init) ?? name
    let near = nearestName(to: own, among: known).map { "; is \($0) meant?" } ?? ""
    return
      "aps.attributes-type \(JSONValue.string(name).serialized()) is none of the types whose schemas are known, \(known.prefix(5).joined(separator: ", ")), so that nothing was checked\(near)"
  }
}

/// What one of an app's attributes types has against a content-state.
public struct ContentStateDoubt: Hashable, Sendable {
  /// The type.
  public var attributesType: String
  /// What is wrong and what would be right; nil when all is well.
  public var problem: SchemaProblem?
}

extension RequestRules {
  /// What each attributes type of a push's app has against its content-state, for a push with `contentStateMismatches`.
  public func contentStateDoubts(_ push: ParsedPush, body: RawSpan, now: Instant) -> [ContentStateDoubt] {
    contentStates.doubts(body, push.schemas, now: now)
  }
}
