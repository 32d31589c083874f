import Configuration
import Push

/// Which of the gateway's own keys signs what, by team, environment and topic.
///
/// Of the keys of the app's team, or of all where it has none: one that is limited to topics signs for these alone, and before one that is
/// not, and one that lists the very topic before one that lists the app; the key of the very environment signs before the one for both. Where there is none for the environment, whatever there is signs,
/// and the upstream says no.
struct SigningTable: Sendable {
  private struct Candidate: Sendable {
    var key: SigningKey
    var number: Int
  }

  private let teams: Set<String>
  /// The keys that are limited to no topics, by team; "" has those of all.
  private var unlimited: [String: [Candidate]] = [:]
  /// The keys of each topic or bundle id.
  private var limited: [String: [Candidate]] = [:]

  /// The table of these keys, by their numbers.
  init(_ keys: [SigningKey], _ numbers: [SigningKey: Int]) {
    teams = Set(keys.map(\.teamID))
    for key in keys {
      let candidate = Candidate(key: key, number: numbers[key] ?? 0)
      if let topics = key.topics {
        for topic in Set(topics) { limited[topic, default: []].append(candidate) }
      } else {
        for team in [key.teamID, ""] { unlimited[team, default: []].append(candidate) }
      }
    }
  }

  /// The keys for an app of a team, in an environment.
  func signers(_ bundleID: String, team: String?, _ environment: PushEnvironment) -> PushSigners {
    let team = team.flatMap { teams.contains($0) ? $0 : nil }
    let general = Self.best(unlimited[team ?? ""] ?? [], environment)
    guard !limited.isEmpty else { return PushSigners(general?.number ?? PushSigners.none) }
    let ofApp = limited[bundleID] ?? []
    return PushSigners { type in
      let topic = "\(bundleID)\(type.topicSuffix)"
      let own = (topic == bundleID ? ofApp : (limited[topic] ?? []) + ofApp).filter { team == nil || $0.key.teamID == team }
      let special = Self.best(own, environment)
      // One of the wrong environment would be refused, whatever its topics.
      let isGeneral = special.map { Self.rank($0, environment) == 0 && general.map { Self.rank($0, environment) > 0 } ?? false } ?? true
      return (isGeneral ? general : special)?.number ?? PushSigners.none
    }
  }

  /// The first of those that suit the environment best.
  private static func best(_ candidates: [Candidate], _ environment: PushEnvironment) -> Candidate? {
    var best: Candidate?
    for candidate in candidates where best.map({ rank($0, environment) < rank(candidate, environment) }) ?? true { best = candidate }
    return best
  }

  private static func rank(_ candidate: Candidate, _ environment: PushEnvironment) -> Int {
    candidate.key.environment == environment ? 2 : candidate.key.environment == nil ? 1 : 0
  }
}
