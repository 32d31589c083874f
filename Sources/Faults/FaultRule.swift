public import Primitives
import Push

/// What somebody asks for: which pushes are struck, by what, how often.
public struct FaultSpecification: Hashable, Sendable {
  /// Which pushes it is for.
  public var match: FaultMatch
  /// What it does to them.
  public var action: FaultAction
  /// How long it holds them back first; nil for not at all.
  public var latency: FaultLatency?
  /// How many it strikes at most; nil for no end.
  public var times: Int?
  /// The part of the pushes that it strikes, above 0 and up to 1.
  public var probability: Double
  /// What all its choices follow from; nil takes the rule's number.
  public var seed: UInt64?

  /// A specification with these values.
  public init(
    _ action: FaultAction, match: FaultMatch = FaultMatch(), latency: FaultLatency? = nil, times: Int? = nil, probability: Double = 1,
    seed: UInt64? = nil
  ) {
    self.match = match
    self.action = action
    self.latency = latency
    self.times = times
    self.probability = probability
    self.seed = seed
  }
}

/// A fault that stands, and what it has done so far.
///
/// Whether the n-th push that it matches is struck, and for how long it is held, follow from the seed and n alone.
public struct FaultRule: Sendable {
  /// Its number, from 1; never given twice.
  public let id: Int
  /// What was asked for.
  public let specification: FaultSpecification
  /// Pushes that it was asked about and that match.
  public private(set) var matched = 0
  /// Pushes that it has struck.
  public private(set) var applied = 0
  private var generator: SplitMix64

  init(id: Int, _ specification: FaultSpecification) {
    self.id = id
    self.specification = specification
    generator = SplitMix64(seed: specification.seed ?? UInt64(id))
  }

  /// What its choices follow from.
  public var seed: UInt64 { specification.seed ?? UInt64(id) }

  /// Whether it has struck as many as it may.
  public var isSpent: Bool { specification.times.map { applied >= $0 } ?? false }

  /// What it does to a push, if anything.
  mutating func strike(_ token: DeviceToken?, bundleID: RawSpan, _ type: PushType) -> FaultStrike? {
    guard !isSpent, specification.match.matches(token, bundleID: bundleID, type) else { return nil }
    matched += 1
    if specification.probability < 1, Double.random(in: 0..<1, using: &generator) >= specification.probability { return nil }
    applied += 1
    let delay = specification.latency?.draw(longest: .milliseconds(Limits.faultDelayMilliseconds), using: &generator)
    return FaultStrike(rule: id, action: specification.action, delay: delay ?? .zero)
  }
}

/// What happens to one push that a fault has struck.
public struct FaultStrike: Hashable, Sendable {
  /// The rule's number.
  public let rule: Int
  /// What is done.
  public let action: FaultAction
  /// How long the push is held back first.
  public let delay: TimeSpan

  /// What was done, as a detail of the push.
  public var sentence: String { "fault \(rule): \(action.sentence)" }
}
