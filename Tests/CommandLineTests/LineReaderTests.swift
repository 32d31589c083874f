import Foundation
import Testing

@testable import widgetpush

@Suite("Lines of a file") struct LineReaderTests {
  @Test(arguments: [
    ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n\na\n", ["", "", "a"]), ("\n", [""]),
    (String(repeating: "x", count: 200_000) + "\ny", [String(repeating: "x", count: 200_000), "y"]),
  ]) func everyLineIsRead(text: String, lines: [String]) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lines"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    var reader = try LineReader(path)
    var read: [String] = []
    while let line = try reader.next() { read.append(String(decoding: line, as: UTF8.self)) }
    #expect(read == lines)
  }

  @Test func aMissingFileIsNamed() {
    let error = #expect(throws: FileError.self) { _ = try LineReader("/nowhere/at/all") }
    #expect(error?.description.contains("/nowhere/at/all") == true)
  }

  @Test func aFileIsInPlaceOnlyWhenItIsWhole() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/out"
    do {
      let output = try OutputFile(path)
      try output.write("half")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    let output = try OutputFile(path)
    try output.write("a")
    try output.write("b")
    #expect(!FileManager.default.fileExists(atPath: path))
    try output.finish()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "ab")
  }
}
