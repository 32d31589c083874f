import JSON
public import Primitives
import Push

/// The schemas of content-states and attributes that apps have given, by the app's index in the `AppDirectory`.
///
/// Which of an app's types an update is of is known by the registration of its token alone, so an update is compared with all of them, and
/// the store, which knows the registration, goes by the one that counts. A start names its type.
struct ContentStateRules: Sendable {
  private let types: [[ActivitySchemas]]
  /// Whether no app has any, which spares every other question.
  let isEmpty: Bool

  /// The rules for apps by bundle id; "" has those of every app that is not listed.
  init(_ apps: AppDirectory, _ byBundleID: [String: [ActivitySchemas]]) {
    types = byBundleID.isEmpty ? [] : (0..<apps.count).map { Array((byBundleID[apps[$0].bundleID] ?? []).prefix(32)) }
    isEmpty = types.allSatisfy(\.isEmpty)
  }

  /// What a start push has against it by the schemas of the type that it names; nil when there are none, or nothing.
  func mismatchOfStart(_ body: RawSpan, app: Int, now: Instant) -> CodableMismatch? {
    guard !types[app].isEmpty, let aps = Self.aps(body), let type = aps["attributes-type"]?.stringValue else { return nil }
    return types[app].schemas(of: type)?.mismatch(attributes: aps["attributes"], contentState: aps["content-state"], now: now)
  }

  /// For each of the app's types, a bit that says whether the content-state is none of it.
  func mismatches(_ body: RawSpan, app: Int, now: Instant) -> UInt32 {
    guard !types[app].isEmpty, let state = Self.aps(body)?["content-state"] else { return 0 }
    var bits: UInt32 = 0
    for (index, type) in types[app].enumerated() where type.mismatch(attributes: nil, contentState: state, now: now) != nil {
      bits |= 1 << UInt32(index)
    }
    return bits
  }

  /// The same in words.
  func doubts(_ body: RawSpan, app: Int, now: Instant) -> [ContentStateDoubt] {
    guard !isEmpty, !types[app].isEmpty, let state = Self.aps(body)?["content-state"] else { return [] }
    return types[app].map { type in
      ContentStateDoubt(
        attributesType: type.attributesType, message: type.mismatch(attributes: nil, contentState: state, now: now)?.message)
    }
  }

  private static func aps(_ body: RawSpan) -> JSONValue? { (try? JSONValue.payload(body))?["aps"] }
}

/// What one of an app's attributes types has against a content-state.
public struct ContentStateDoubt: Hashable, Sendable {
  /// The type.
  public var attributesType: String
  /// What is wrong and what would be right; nil when all is well.
  public var message: String?
}

extension RequestRules {
  /// What each attributes type of a push's app has against its content-state, for a push with `contentStateMismatches`.
  public func contentStateDoubts(_ push: ParsedPush, body: RawSpan, now: Instant) -> [ContentStateDoubt] {
    contentStates.doubts(body, app: push.app, now: now)
  }
}
