/// Why a push has the disposition it has, beyond an error's `Reason`; the values of `cause` in JSON.
public enum Cause: UInt8, CaseIterable, Sendable {
  /// There is nothing to add.
  case none
  // While it waits, or why it was merged.
  case waitingForBudget, minimumInterval, inFlight, upstreamUnavailable, upstreamFailed, upstreamBusy, upstreamPaused
  case appNotConfigured, upstreamNotConfigured, noSigningKey, coalescing
  case waitingForBatch, quietHours
  case mergedIntoWaiting, supersededByNewer
  // Why the gateway let it pass or gave up.
  case budgetSpent, priorityLowered, startBudgetSpent, expirationPassed, registrationRemoved, droppedByPolicy
  // Which of a reason's causes it was.
  case tokenUnknown, otherEnvironment, otherApp, otherKind, laneFull, tooSoon
  // What somebody has asked for, to see what comes of it.
  case fault
  // What an upstream said.
  case upstreamRefused, unregistered, upstreamSuspectsToken
  // What the device says (widgets.md section 7).
  case reloaded, started, updated, ended, alertShown, badgeSet, soundPlayed
  case appWoken, callReported, complicationUpdated, filesSignaled, locationQueried, checkedIn, speakerAnnounced, passUpdated
  case noSuchHandler
  case noSuchWidget, noSuchControl, noSuchActivity, noSuchApp, appRemoved, noSubscribers
  case payloadNotUnderstood, contentStateNotDecodable, attributesTypeUnknown, alertMissing
  case staleTimestamp, futureTimestamp, activityEnded, activityLimitReached, tokenKindMismatch, permissionDenied
  // What somebody did on purpose while it waited. Behind all others, since journals have their places.
  case reset
  // Why it was not taken in, though others are.
  case upstreamFull
  // More of what the device says.
  case attributesNotDecodable
  // Why a start starts nothing.
  case channelUnknown
  // What decodes, into something else than was meant.
  case dateMisread

  /// Whether nothing but another configuration lets the push go: no time does.
  public var awaitsConfiguration: Bool { self == .appNotConfigured || self == .upstreamNotConfigured }

  /// The name used in JSON.
  public var name: String { "\(self)" }

  /// The cause of that name, or nil.
  public init?(name: String) {
    guard let match = Cause.allCases.first(where: { $0.name == name }) else { return nil }
    self = match
  }
}
