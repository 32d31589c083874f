/// What a load has read, value by value, with where each came from: for people who ask why a gateway does what it does.
public final class ConfigurationTrace {
  /// Where a value came from.
  public enum Origin: Hashable, Sendable {
    /// From nowhere: the default holds.
    case standard
    /// From the file, at `gateway.yaml:3:17`.
    case file(place: String)
    /// From an environment variable.
    case variable(String)
    /// From a flag.
    case flag(String)
  }

  /// One key.
  public struct Entry: Hashable, Sendable {
    /// Its path, such as `apps[0].bundleID`.
    public var path: String
    /// Its value as text, secrets masked; nil where it has none.
    public var value: String?
    /// Where the value came from.
    public var origin: Origin

    /// An entry with these values.
    public init(path: String, value: String?, origin: Origin) {
      self.path = path
      self.value = value
      self.origin = origin
    }
  }

  /// A file that holds a secret.
  public struct SecretFile: Hashable, Sendable {
    /// The key that names it.
    public var key: String
    /// Its path, as the process reads it.
    public var path: String
  }

  /// What stands for a secret.
  public static let mask = "********"

  /// Every key that was asked for, in the order of the questions.
  public private(set) var entries: [Entry] = []
  /// The files with private keys and other secrets, which nobody else should be able to read.
  public private(set) var secretFiles: [SecretFile] = []

  private var places: [String: Int] = [:]

  /// A trace of nothing.
  public init() {}

  /// Notes a key; the last note about it holds, unless it says less.
  func note(_ path: String, _ value: String?, _ origin: Origin) {
    guard let place = places[path] else {
      places[path] = entries.count
      entries.append(Entry(path: path, value: value, origin: origin))
      return
    }
    if value != nil && entries[place].value == nil { entries[place] = Entry(path: path, value: value, origin: origin) }
  }

  func noteSecretFile(_ key: String, _ path: String) {
    let file = SecretFile(key: key, path: path)
    if !secretFiles.contains(file) { secretFiles.append(file) }
  }
}
