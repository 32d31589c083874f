/// Where values come from: flags over environment over file.
public struct ConfigurationSources: Sendable {
  /// A configuration file's content.
  public struct File: Hashable, Sendable {
    /// The path for messages, and the folder that relative paths in the file start from.
    public var name: String
    /// The YAML text.
    public var text: String

    /// A file of that name and content.
    public init(name: String, text: String) {
      self.name = name
      self.text = text
    }
  }

  /// The file; nil has nothing but defaults.
  public var file: File?
  /// All environment variables.
  public var environment: [String: String]
  /// The values of flags by key path.
  public var flags: [String: String]
  /// Reads a text file that the configuration names; throws a sentence.
  public var readFile: @Sendable (_ path: String) throws(ReadFailure) -> String

  /// Why a file cannot be read: a clause such as `no such file or directory`.
  public struct ReadFailure: Error, Hashable, Sendable {
    /// The clause.
    public var reason: String

    /// A failure for that reason.
    public init(_ reason: String) { self.reason = reason }
  }

  /// The variable that may hold the whole file.
  public static let fileVariable = "WIDGETPUSH_CONFIG"

  /// These sources; without a file the content of `WIDGETPUSH_CONFIG` is the file.
  public init(
    file: File? = nil, environment: [String: String] = [:], flags: [String: String] = [:],
    readFile: @escaping @Sendable (_ path: String) throws(ReadFailure) -> String
  ) {
    self.file = file ?? environment[Self.fileVariable].map { File(name: Self.fileVariable, text: $0) }
    self.environment = environment
    self.flags = flags
    self.readFile = readFile
  }

  /// Refuses variables that begin like ours and are none, naming the nearest that is one.
  ///
  /// - Parameters:
  ///   - keys: The keys of every configuration file, since processes often share one environment.
  ///   - others: Variables that mean something else.
  func refuseUnknownVariables(_ keys: [ConfigurationKey], others: [String]) throws(ConfigurationError) {
    let names = environment.keys.filter { $0.hasPrefix("WIDGETPUSH_") }.sorted()
    guard !names.isEmpty else { return }
    let known = keys.map(\.variable) + others + [Self.fileVariable]
    for name in names where !known.contains(name) {
      throw ConfigurationError("this variable is not known\(hint(for: name, among: known))", at: name)
    }
  }

  /// `path` as seen from the file's folder.
  func resolved(_ path: String) -> String {
    guard let file, !path.hasPrefix("/"), let slash = file.name.lastIndex(of: "/") else { return path }
    return file.name[...slash] + path
  }
}
