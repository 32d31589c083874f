public import JSON

/// A request to the provider API as somebody wrote it down: to be looked at, not to be sent.
public struct LintedRequest: Hashable, Sendable {
  /// A header as it was written; the value is nil where it is not known yet, such as one that a shell puts in.
  public struct Header: Hashable, Sendable {
    /// The name in lower case.
    public var name: String
    /// The value.
    public var value: String?

    /// A header of that name and value.
    public init(_ name: String, _ value: String?) {
      self.name = name.lowercased()
      self.value = value
    }
  }

  /// The method; nil where nobody wrote a request, only a payload.
  public var method: String?
  /// The URL's scheme in lower case, as far as it is written.
  public var scheme: String?
  /// The URL's host in lower case, without a port; nil where it is not known.
  public var host: String?
  /// The option that has the client speak HTTP/1, such as `--http1.1`.
  public var http1Option: String?
  /// What of the provider API it is for, as far as the path is written.
  public enum Service: Hashable, Sendable {
    /// `/3/device/TOKEN`.
    case devices
    /// `/4/broadcasts/apps/BUNDLE`.
    case broadcasts
    /// `/1/apps/BUNDLE/channels`.
    case channels
    /// `/1/apps/BUNDLE/all-channels`.
    case allChannels

    /// The service that a path, or what is known of one, leads to.
    public init(path: String) {
      self =
        path.contains("/4/broadcasts/")
        ? .broadcasts
        : !path.contains("/1/apps/")
          ? .devices
          : path.hasSuffix("/all-channels") ? .allChannels : .channels
    }
  }

  /// What it is for.
  public var service = Service.devices
  /// The path, such as `/3/device/3fa2c1`; nil where it is not known.
  public var path: String?
  /// The headers in their order.
  public var headers: [Header] = []
  /// The payload; nil where it is not known.
  public var body: [UInt8]?
  /// Where in the payload a shell puts something in that is not known: offsets of its bytes, rising.
  public var bodyGaps: [Int] = []
  /// Whether there may be headers, or a method, that are not known.
  public var mayHaveMore = false
  /// Whether the client shows a certificate.
  public var hasClientCertificate = false
  /// The push type that is meant, where no header says it.
  public var assumedType: String?

  /// What attributes and content-state are to decode from, where that is known, by their type; "" stands for any.
  public var schemas: [ActivitySchemas] = []

  /// A request that says nothing.
  public init() {}

  /// The payload with something in its gaps; nil where it is not known, or so little of it that nothing can be judged.
  public var payload: PayloadTemplate? { body.flatMap { PayloadTemplate($0, gaps: bodyGaps) } }

  /// Whether it is a request rather than a payload alone.
  public var isWhole: Bool { method != nil || path != nil || !headers.isEmpty }

  /// The first header of that name, if any.
  func header(_ name: String) -> Header? { headers.first { $0.name == name } }
}

/// Something about a request that its sender should know.
public struct LintFinding: Hashable, Sendable {
  /// How bad it is.
  public enum Level: String, Sendable {
    /// APNs answers with an error.
    case refused
    /// APNs answers 200, and the device does nothing.
    case ignored
    /// APNs answers 200, and the device passes over the field and does the rest.
    case fieldIgnored
    /// APNs answers 200, and the device reads another value than was meant.
    case misread
    /// It works, and may not do what was meant.
    case warning
    /// It could not be judged, or not wholly.
    case note

    /// Whether the push does not do what it is sent for.
    public var isWrong: Bool { self == .refused || self == .ignored || self == .fieldIgnored || self == .misread }
  }

  /// How bad it is.
  public var level: Level
  /// The rule: APNs' reason, or the name of the warning.
  public var rule: String
  /// What it is about: a header, or a field such as `aps.timestamp`.
  public var field: String
  /// What is wrong and what would be right.
  public var message: String

  /// A finding with these values.
  public init(_ level: Level, _ rule: String, _ field: String, _ message: String) {
    self.level = level
    self.rule = rule
    self.field = field
    self.message = message
  }
}
