/// What happened to a push and what to do about it, in two plain sentences.
///
/// APNs answers 200 and the device may still do nothing; these sentences are where that silence ends. Each must be true,
/// concrete and short, and the tests hold every reason, cause and disposition to having both.
public struct Remedy: Hashable, Sendable {
  /// What happened, as one sentence.
  public let happened: String
  /// What to do, as one sentence.
  public let advice: String
  /// How sure that is.
  public let certainty: Certainty

  /// A remedy of these sentences, each ending in a period.
  init(_ happened: String, _ advice: String, _ certainty: Certainty = .known) {
    self.happened = happened
    self.advice = advice
    self.certainty = certainty
  }

  /// The most telling remedy for a push with that disposition: the error's reason, else the cause, else the disposition alone.
  ///
  /// - Parameter reason: The reason of an answer with an error, by the gateway or by the upstream.
  public init(_ disposition: Disposition, cause: Cause, reason: Reason? = nil) {
    if let reason, cause == .none || cause == .upstreamRefused {
      self = reason.remedy
    } else if cause == .none {
      self = disposition.remedy
    } else {
      self = cause.remedy
    }
  }
}

extension Remedy {
  /// What a device's detail says where something of the push was there to be checked by nothing.
  public static let uncheckedMark = "not checked"

  /// How sure it is of a push with that detail: what a device did not check is not known to be right.
  public func certainty(of detail: String?) -> Certainty {
    certainty == .known && detail?.contains(Self.uncheckedMark) == true ? .likely : certainty
  }
}

extension Disposition {
  /// What a push with this disposition and no further cause went through.
  public var remedy: Remedy {
    switch self {
    case .refused:
      Remedy("The gateway answered the push with an error.", "Look up the reason that the answer's JSON body names.")
    case .waiting:
      Remedy(
        "The push is stored and will be sent, but not yet.", "Let it wait: it survives a restart and goes by itself when its turn comes.")
    case .merged:
      Remedy(
        "Another push of the same token stands for this one.",
        "Follow the push named in mergedInto, which does for the device what this one would have done.")
    case .forwarding:
      Remedy(
        "The push has been written to its upstream, which has not answered yet.",
        "Ask again in some seconds: without an answer it is sent once more.")
    case .accepted:
      Remedy(
        "The upstream answered 200, and APNs tells nobody what the device does next.",
        "If the screen stays as it was, send the same push to the mock device, which shows whether the payload or a budget is at fault.",
        .cannotSee)
    case .applied:
      Remedy(
        "The device did what the push asks.", "Look at the app's own code if the screen is not as expected: the push has done its part.")
    case .ignored:
      Remedy("The device received the push and did nothing.", "Read the device's log, which names what it missed.", .likely)
    case .expired:
      Remedy(
        "The push could not be delivered while it was still wanted.", "Send a later apns-expiration if the push is worth having late.")
    case .failed:
      Remedy("The upstream will not take the push, so it is not tried again.", "Read detail for the upstream's status and reason.")
    }
  }
}
