import Foundation
import FuzzEntries
import Testing

/// What fuzzing has found before, and where it starts from, once more.
@Suite("Corpora") struct CorporaTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fuzz/corpora")

  /// The inputs of an entry by name: a line each, the name and base64.
  private static func inputs(of entry: FuzzEntry) throws -> [(name: String, bytes: [UInt8])] {
    let text = try String(contentsOf: folder.appendingPathComponent("\(entry.rawValue).txt"), encoding: .utf8)
    return try text.split(separator: "\n").map { line in
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      let bytes = try #require(words.count == 2 ? Data(base64Encoded: String(words[1])) : nil, "\(entry): \(line.prefix(60))")
      return (String(words[0]), Array(bytes))
    }
  }

  @Test(arguments: FuzzEntry.allCases) func everyInputIsBorne(entry: FuzzEntry) throws {
    let inputs = try Self.inputs(of: entry)
    #expect(inputs.count >= 5)
    for (_, bytes) in inputs {
      entry.run(bytes)
      // Cut short, and with a byte that is wrong.
      for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 40)) {
        entry.run(Array(bytes.prefix(count)))
        var damaged = bytes
        damaged[count] ^= 0x41
        entry.run(damaged)
      }
    }
  }
}
