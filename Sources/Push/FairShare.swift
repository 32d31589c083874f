/// Why somebody gets no more of what all share.
public enum ShareRefusal: Error, Hashable, Sendable {
  /// The access token of that name has its share.
  case token(String, share: Int)
  /// The app has its share.
  case app(String, share: Int)
  /// What is left is kept for those who have none.
  case kept(of: Int)
  /// There is nothing left.
  case all(Int)
}

/// Something of which there are few, and that many callers want: none of them gets so much that others are shut out.
public struct FairShare: Hashable, Sendable {
  /// How many there are.
  public let all: Int
  /// The most that one access token may have.
  public var ofToken: Int { max(1, all / Limits.shareOfToken) }
  /// The most that one app may have.
  public var ofApp: Int { max(1, all / Limits.shareOfApp) }
  /// How many are kept for those who have none.
  var kept: Int { all / Limits.shareKept }

  /// A share of so many.
  public init(of all: Int) {
    precondition(all > 0)
    self.all = all
  }

  /// Why one more is not given out; nil where it is.
  ///
  /// - Parameters:
  ///   - used: How many are given out.
  ///   - token: The access token that asks, and how many it has; nil where that is not known.
  ///   - apps: The apps that it is for, and how many each has; none for a token that sees all.
  public func refusal(used: Int, token: (name: String, has: Int)?, apps: [(name: String, has: Int)] = []) -> ShareRefusal? {
    if used >= all { return .all(all) }
    if let token, token.has >= ofToken { return .token(token.name, share: ofToken) }
    if let app = apps.first(where: { $0.has >= ofApp }) { return .app(app.name, share: ofApp) }
    let hasNone = apps.isEmpty ? (token?.has ?? 0) == 0 : apps.allSatisfy { $0.has == 0 }
    return used >= all - kept && !hasNone ? .kept(of: all) : nil
  }
}

extension ShareRefusal {
  /// What is used up, as a sentence without its end.
  ///
  /// - Parameter things: What is shared, in the plural, such as `reloads that run`.
  public func sentence(_ things: String) -> String {
    switch self {
    case .token(let name, let share): "the access token \"\(name)\" has its share of \(things), which is \(share)"
    case .app(let bundleID, let share): "the app \"\(bundleID)\" has its share of \(things), which is \(share)"
    case .kept(let all): "the last of the \(all) \(things) are kept for those who have none"
    case .all(let all): "there are \(all) \(things) already, which is the most"
    }
  }
}
