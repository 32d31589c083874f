import Primitives
import Push

/// The provider tokens that one thread has judged, so that each costs one signature check; found by the exact header bytes.
///
/// A check costs as much as twenty requests, and senders keep one token for up to an hour. The cache is a table of four
/// places for each hash: a token goes into an empty place, else over one that was refused, else, if it was verified, over the
/// oldest. So a stream of bad tokens displaces no good one. A hit allocates nothing; the stored headers bound the memory at
/// `capacity` times `Limits.authorizationBytes`.
///
/// Age, environment and apps are judged anew with each request: only what cannot change is kept. When a token was signed is kept by the
/// clock that tokens age by, to which the sender's is converted as it is at the time when the token is first seen.
struct ProviderTokenVerdicts {
  /// What was found out about a token once.
  enum Finding {
    /// Signed by the provider's key at that time, in seconds; whether its team is the key's own.
    case verified(provider: Int, issuedAt: Int64, teamID: TeamMatch)
    /// Unreadable, of an unknown key, or wrongly signed.
    case invalid(detail: String)
  }

  /// Whether `iss` is the team of the key.
  enum TeamMatch {
    case same
    case other(String)
  }

  private struct Place {
    var hash: UInt64 = 0
    var header: [UInt8] = []
    var finding: Finding?
  }

  /// The token that was last found verified, and of its key's team: most often the next request's too.
  private struct Latest {
    var header: [UInt8] = []
    var identity: UInt64 = 0
    var provider = 0
    var issuedAt: Int64 = 0
  }

  private static let ways = 4

  private var places: [Place]
  private var latest = Latest()
  private let seed: UInt64
  private let verifier: any ProviderTokenVerifier
  /// Tokens that were found invalid and not known to be.
  private(set) var refusals = 0
  /// Counts new tokens over connections; nil when nothing does.
  let updates: (any ProviderTokenUpdates)?

  /// An empty cache.
  ///
  /// - Parameters:
  ///   - verifier: Checks signatures; it belongs to the same thread.
  ///   - capacity: Tokens remembered at most, a power of two of at least 4, such as `Limits.providerTokenVerdicts`.
  ///   - seed: A secret for the hash, since senders choose the bytes; one for all who share `updates`.
  ///   - updates: Counts new tokens over connections.
  init(verifier: any ProviderTokenVerifier, capacity: Int, seed: UInt64, updates: (any ProviderTokenUpdates)?) {
    precondition(capacity >= Self.ways && capacity & (capacity - 1) == 0, "the capacity must be a power of two")
    self.verifier = verifier
    self.seed = seed
    self.updates = updates
    places = Array(repeating: Place(), count: capacity)
  }

  /// The identity, the key and the time of the token in that header value, when it is the one that was last found verified.
  func latest(_ authorization: RawSpan) -> (identity: UInt64, provider: Int, issuedAt: Int64)? {
    Self.isEqual(latest.header, authorization) && !authorization.isEmpty ? (latest.identity, latest.provider, latest.issuedAt) : nil
  }

  /// What tells the token in that header value from any other; never 0.
  func identity(of authorization: RawSpan) -> UInt64 { Self.hash(authorization, seed: seed) | 1 }

  /// What is known of the token in that header value, or is found out now; `hash` is its identity.
  ///
  /// - Parameter shiftSeconds: What turns the sender's time into that of the clock that tokens age by.
  mutating func finding(
    _ authorization: RawSpan, _ hash: UInt64, _ providers: ProviderDirectory, shiftSeconds: Int64
  ) -> Finding {
    // The lowest bit is always set.
    let first = Int(truncatingIfNeeded: hash >> 1) & (places.count - 1) & ~(Self.ways - 1)
    for index in first..<first + Self.ways where places[index].hash == hash {
      guard let finding = places[index].finding, Self.isEqual(places[index].header, authorization) else { continue }
      if case .verified(let provider, let issuedAt, .same) = finding {
        latest = Latest(header: places[index].header, identity: hash, provider: provider, issuedAt: issuedAt)
      }
      return finding
    }
    var finding = find(authorization, providers)
    if case .verified(let provider, let issuedAt, let team) = finding, shiftSeconds != 0 {
      finding = .verified(provider: provider, issuedAt: issuedAt.saturatingAdd(shiftSeconds), teamID: team)
    }
    if case .invalid = finding { refusals &+= 1 }
    if let place = placeToReplace(from: first, by: finding) {
      places[place] = Place(hash: hash, header: authorization.array, finding: finding)
    }
    return finding
  }

  private func find(_ authorization: RawSpan, _ providers: ProviderDirectory) -> Finding {
    let token: ProviderToken
    do { token = try ProviderToken(authorization: authorization) } catch { return .invalid(detail: error.detail) }
    guard let provider = providers.index(ofKey: token.keyID) else {
      return .invalid(detail: Self.complaint(token, providers))
    }
    let signature = token.signature
    guard unsafe verifier.verify(signature.span.bytes, of: authorization[token.signed], key: provider, algorithm: token.algorithm) else {
      return .invalid(
        detail: "the provider token's signature must be made with the private key of \(Self.quoted(token.keyID)), and is not")
    }
    let isSame = token.teamID == providers[provider].teamID
    return .verified(provider: provider, issuedAt: token.issuedAt, teamID: isSame ? .same : .other(token.teamID))
  }

  /// What is wrong with the `kid` of a token, which is that of no key.
  private static func complaint(_ token: ProviderToken, _ providers: ProviderDirectory) -> String {
    let kid = quoted(token.keyID)
    // Nobody has proved to be anybody yet, so that nothing is told of keys that are limited to somebody's apps.
    let providers = providers.unlimited
    let isTeam = providers.contains { $0.teamID == token.keyID }
    if isTeam, providers.contains(where: { $0.keyID == token.teamID }) {
      return
        "the provider token's key id is your team id: they are swapped; kid must be \(quoted(token.teamID)) and iss \(kid), not the other way round"
    }
    if isTeam {
      return "the provider token's kid \(kid) is your team id, which belongs into iss; kid must be the id of the key"
    }
    let hint = nearestName(to: token.keyID, among: providers.map(\.keyID)).map { "; did you mean \"\($0)\"?" } ?? ""
    return "the provider token's kid \(kid) must be the id of a key that is configured here\(hint)"
  }

  /// Where a finding goes among the places of its hash; nil when it must not displace any.
  private func placeToReplace(from first: Int, by finding: Finding) -> Int? {
    var oldest: (index: Int, issuedAt: Int64)?
    var refused: Int?
    for index in first..<first + Self.ways {
      switch places[index].finding {
      case nil: return index
      case .invalid: refused = index
      case .verified(_, let issuedAt, _): if oldest.map({ issuedAt < $0.issuedAt }) ?? true { oldest = (index, issuedAt) }
      }
    }
    if let refused { return refused }
    if case .verified = finding { return oldest?.index }
    return nil
  }

  private static func quoted(_ text: String) -> String {
    let bytes = Array(text.utf8)
    return unsafe bytes.span.bytes.quoted
  }

  private static func hash(_ header: RawSpan, seed: UInt64) -> UInt64 { header.hash(seed: seed) }

  private static func isEqual(_ header: [UInt8], _ bytes: RawSpan) -> Bool { unsafe header.span.bytes.equals(bytes) }
}
