public import Push
import Synchronization

/// Places for calls that last, shared fairly between access tokens and apps. Safe to use from any thread.
public final class CallPlaces: Sendable {
  /// A place that is taken until this is let go of.
  public final class Place: Sendable {
    private let places: CallPlaces
    private let token: String
    private let apps: Set<String>

    fileprivate init(_ places: CallPlaces, _ token: String, _ apps: Set<String>) {
      (self.places, self.token, self.apps) = (places, token, apps)
    }

    deinit { places.free(token, apps) }
  }

  private struct Counts {
    var used = 0
    var tokens: [String: Int] = [:]
    var apps: [String: Int] = [:]
  }

  private let share: FairShare
  private let things: String
  private let counts = Mutex(Counts())

  /// `all` places, all free.
  ///
  /// - Parameter things: What takes them, in the plural, such as `calls that follow events`; for the error.
  public init(_ all: Int, for things: String) {
    share = FairShare(of: all)
    self.things = things
  }

  /// Takes a place for the caller.
  ///
  /// - Parameter bundleID: The app that the call is about; nil for all that the caller sees.
  /// - Throws: 429 where the caller has its share, 503 where there is none left.
  public func take(_ grant: Grant, bundleID: String? = nil) throws(ControlError) -> Place {
    // A token of all apps is the operator's, whose calls count for no app.
    let apps = grant.bundleIDs.map { seen in bundleID.map { [$0] } ?? seen } ?? []
    let refusal = counts.withLock { counts -> ShareRefusal? in
      let refusal = share.refusal(
        used: counts.used, token: (grant.name, counts.tokens[grant.name] ?? 0), apps: apps.sorted().map { ($0, counts.apps[$0] ?? 0) })
      guard refusal == nil else { return refusal }
      counts.used += 1
      counts.tokens[grant.name, default: 0] += 1
      for app in apps { counts.apps[app, default: 0] += 1 }
      return nil
    }
    if let refusal { throw ControlError(refusal, of: things) }
    return Place(self, grant.name, apps)
  }

  private func free(_ token: String, _ apps: Set<String>) {
    counts.withLock { counts in
      counts.used -= 1
      counts.tokens[token] = counts.tokens[token].flatMap { $0 > 1 ? $0 - 1 : nil }
      for app in apps { counts.apps[app] = counts.apps[app].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }
  }
}

extension ControlError {
  /// 429 `shareUsedUp` where a caller has its share of `things`, 503 where there are none left.
  public init(_ refusal: ShareRefusal, of things: String) {
    if case .all = refusal {
      self = .unavailable(refusal.sentence(things))
    } else {
      self.init(
        status: 429, code: "shareUsedUp", message: "\(refusal.sentence(things)); end one first", fields: ["retry-after": "1"])
    }
  }
}
