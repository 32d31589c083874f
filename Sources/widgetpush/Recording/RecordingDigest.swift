import Gateway
import JSON
import Primitives
import Push

/// What a recording has in it, told before any of it is sent.
struct RecordingDigest {
  /// When it begins and ends, by the clock of the gateway that was recorded.
  private(set) var start = Instant.distantPast
  private(set) var end = Instant.distantPast
  /// How many pushes there are to send.
  private(set) var pushes = 0
  /// The apps that pushes are for, or registrations, in the order in which they come.
  private(set) var bundleIDs: [String] = []
  /// What became of each push at the time, as far as it is known.
  private(set) var outcomes: [PushID: RecordedOutcome] = [:]
  /// Whether a registration has quiet hours, which go by the time of the day.
  private(set) var hasQuietHours = false
  /// What is missing in the file, in sentences.
  private(set) var gaps: [String] = []

  /// Where a replay is to end before the recording does.
  enum Limit: Hashable {
    /// At a time of the recorded gateway's clock.
    case time(Instant)
    /// So long after the recording's beginning.
    case after(TimeSpan)

    /// The limit that `text` spells: `2027-01-31T12:00:00Z`, or `10m`.
    init?(text: String) {
      if let span = TimeSpan(text: text) {
        self = .after(span)
      } else if let time = Instant(rfc3339: text) {
        self = .time(time)
      } else {
        return nil
      }
    }

    /// When that is in a recording that begins at `start`.
    fileprivate func time(from start: Instant) -> Instant {
      switch self {
      case .time(let time): time
      case .after(let span): start + span
      }
    }
  }

  /// The digest of the file at `path`, of one app or of all; throws what is wrong with it.
  ///
  /// - Parameter limit: Where it is to end; what stands behind that in the file is not looked at.
  init(_ path: String, bundleID: String? = nil, to limit: Limit? = nil) throws {
    var reader = try RecordingReader(path)
    var (parts, isOver) = (0, false)
    while let line = try reader.read() {
      if parts == 0 { (start, end) = (line.at, line.at) }
      if let last = limit?.time(from: start), line.at > last {
        (end, isOver) = (last, true)
        break
      }
      let before = end
      end = max(end, line.at)
      if case .end = line.content { isOver = true } else if !line.content.isNothing { isOver = false }
      switch line.content {
      case .beginning:
        parts += 1
        if parts > 1 { gaps.append("from \(before) to \(line.at) nothing was recorded") }
      case .lost(let lost):
        gaps.append(
          "about \(line.at) at least \(lost.pushes) pushes, \(lost.changes) changes of registrations and apps and \(lost.outcomes) outcomes were lost"
        )
      case .push(let push):
        guard bundleID == nil || push.bundleID == bundleID else { continue }
        pushes += 1
        add(push.bundleID)
      case .registration(let registration):
        let own = registration["bundleID"]?.stringValue
        guard bundleID == nil || own == bundleID else { continue }
        add(own)
        if registration["quietHours"] != nil { hasQuietHours = true }
      case .outcome(let id, let outcome): outcomes[id] = outcome
      case .app, .unregistered, .end, .nothing: break
      }
    }
    if let last = limit?.time(from: start), last < start {
      throw CommandError("the recording begins only at \(start), after --to")
    }
    if reader.isCutOff {
      gaps.append("line \(reader.number) is cut off, and left out: the recording was ended by force")
    } else if !isOver {
      gaps.append("the recording was ended by force, after \(end)")
    }
  }

  private mutating func add(_ bundleID: String?) {
    guard let bundleID, AppDirectory.isBundleID(bundleID), !bundleIDs.contains(bundleID) else { return }
    bundleIDs.append(bundleID)
  }
}

extension RecordingLine.Content {
  /// Whether it says no more than that time went by.
  fileprivate var isNothing: Bool { self == .nothing }
}

extension RecordedPush {
  /// The app that the topic names; nil without a topic.
  var bundleID: String? {
    guard let topic = value("apns-topic") else { return nil }
    let suffix = PushType.allCases.map { "\($0.topicSuffix)" }.filter { !$0.isEmpty && topic.hasSuffix($0) }.max { $0.count < $1.count }
    return suffix.map { String(topic.dropLast($0.count)) } ?? topic
  }
}
