import Primitives
import Push

/// What a path outside `/3/` asks for: a broadcast, one channel, or the list of them (apns.md section 8).
enum BroadcastRoute {
  case broadcasts, channels, allChannels

  private static let broadcastPrefix: StaticString = "/4/broadcasts/apps/"
  private static let managementPrefix: StaticString = "/1/apps/"

  /// The methods that it takes, as text for a detail.
  var methods: String {
    switch self {
    case .broadcasts: "POST"
    case .channels: "POST, GET or DELETE"
    case .allChannels: "GET"
    }
  }

  /// Whether it takes `method`.
  func takes(_ method: RawSpan) -> Bool {
    switch self {
    case .broadcasts: method.equals("POST")
    case .channels: method.equals("POST") || method.equals("GET") || method.equals("DELETE")
    case .allChannels: method.equals("GET")
    }
  }

  /// Checks `:method`.
  func check(_ method: ByteRange?, _ headers: RawSpan) throws(Violation) {
    if let method, takes(headers[method]) { return }
    throw Violation(
      .methodNotAllowed, ":method",
      "the method must be \(methods) for this path, not \(method.map { headers[$0].quoted } ?? "absent")")
  }

  /// What is wrong with a path whose bundle id has the suffix of a push type.
  static func suffixed(_ type: PushType) -> Violation {
    Violation(.topicDisallowed, ":path", "the path must have the bare bundle id, without the suffix \(type.topicSuffix)")
  }

  /// Whether the path is judged by the rules of broadcasts and channels, right or wrong as it may be.
  static func owns(_ path: RawSpan) -> Bool {
    path.extracting(first: 3).equals("/4/") || path.extracting(first: managementPrefix.utf8CodeUnitCount).equals(managementPrefix)
  }

  /// The route and the bundle id of `path`, of which a query is no part.
  static func find(_ path: ByteRange, _ headers: RawSpan) throws(Violation) -> (BroadcastRoute, bundle: ByteRange) {
    let text = headers[path]
    let end = (0..<text.byteCount).first { text.byte($0) == UInt8(ascii: "?") || text.byte($0) == UInt8(ascii: "#") } ?? text.byteCount
    let isBroadcast = text.extracting(first: broadcastPrefix.utf8CodeUnitCount).equals(broadcastPrefix)
    let isManagement = text.extracting(first: managementPrefix.utf8CodeUnitCount).equals(managementPrefix)
    guard isBroadcast || isManagement else { throw badPath(text) }
    let start = isBroadcast ? broadcastPrefix.utf8CodeUnitCount : managementPrefix.utf8CodeUnitCount
    let slash = (start..<end).first { text.byte($0) == UInt8(ascii: "/") } ?? end
    let bundle = ByteRange(offset: Int(path.offset) + start, count: slash - start)
    guard slash > start else { throw badPath(text) }
    let rest = text.extracting(slash..<end)
    if isBroadcast {
      guard rest.isEmpty else { throw badPath(text) }
      return (.broadcasts, bundle)
    }
    if rest.equals("/channels") { return (.channels, bundle) }
    if rest.equals("/all-channels") { return (.allChannels, bundle) }
    guard !rest.extracting(first: 10).equals("/channels/") else {
      throw Violation(.badPath, ":path", "the channel's id belongs into the header apns-channel-id, and not into the path")
    }
    throw badPath(text)
  }

  private static func badPath(_ path: RawSpan) -> Violation {
    Violation(
      .badPath, ":path",
      "the path must be /4/broadcasts/apps/<bundle id>, /1/apps/<bundle id>/channels or /1/apps/<bundle id>/all-channels, not \(path.quoted)"
    )
  }
}
