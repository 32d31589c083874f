/// What has arrived of an answer so far; curl's callbacks write here.
final class ResponseCollector {
  private(set) var fields: [BlockingHTTPClient.Field] = []
  private(set) var body: [UInt8] = []
  /// Whether the answer was cut because it is larger than allowed.
  private(set) var isFull = false
  private let bodyBytesMax: Int
  /// Takes the body of an answer of success as it comes; nil has it collected.
  private let reader: (([UInt8]) -> Bool)?
  /// Whether the reader wanted no more.
  private(set) var isStopped = false
  private var isSuccess = false

  init(bodyBytesMax: Int, reader: (([UInt8]) -> Bool)? = nil) {
    self.bodyBytesMax = bodyBytesMax
    self.reader = reader
  }

  /// Takes one line of the header with its line break; curl bounds them all to 300 KB.
  func addLine(_ line: UnsafeRawBufferPointer) {
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      // A status line: what came before belonged to an interim answer such as 100.
      fields.removeAll()
      isSuccess = text.split(separator: " ").dropFirst().first?.hasPrefix("2") ?? false
      return
    }
    guard let colon = text.firstIndex(of: ":") else { return }
    let name = text[..<colon].lowercased()
    let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
    let end = value.lastIndex { !$0.isWhitespace }.map { value.index(after: $0) } ?? value.startIndex
    fields.append(BlockingHTTPClient.Field(name, String(value[..<end])))
  }

  /// Takes a piece of the body; false ends the call.
  func addBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if let reader, isSuccess {
      isStopped = !reader(Array(bytes))
      return !isStopped
    }
    guard body.count + bytes.count <= bodyBytesMax else {
      isFull = true
      return false
    }
    body.append(contentsOf: bytes)
    return true
  }
}
