import Primitives
import Security

/// `numbers.key` beside a store: the key that hides in event ids and cursors how many pushes there are, so that a client finds its place
/// again after a restart.
enum NumberKey {
  private static let name = "numbers.key"
  private static let bytes = 32

  /// The key of the store in `folder`, made where there is none.
  static func prepare(_ folder: String) throws -> [UInt8] {
    let path = "\(folder)/\(name)"
    if Files.exists(path) {
      let text = try Files.read(path)
      guard let key = Hexadecimal.decode(String(text.prefix { $0 != "\n" })), key.count == bytes else {
        throw CommandError("\(path) is damaged; remove it to have a new one")
      }
      return key
    }
    let key = SecureRandom.bytes(bytes)
    try Files.write(Hexadecimal.encode(key) + "\n", to: path, mode: 0o600)
    return key
  }
}
