import Foundation
import Gateway
import Primitives
import Push
import Testing

@testable import widgetpush

@Suite("Reading a recording") struct RecordingReaderTests {
  private static let beginning: String = #"{"at":"2027-01-31T08:00:00Z","recording":{"version":1,"gateway":"1.2.3"}}"#

  private static func pushLine(_ number: Int, at: String = "2027-01-31T08:00:01Z", bundle: String = "com.example.app") -> String {
    #"{"at":"\#(at)","push":{"id":"\#(PushID(high: 9, low: UInt64(number)))","token":"a5a5","headers":{"apns-topic":"\#(bundle).push-type.widgets"},"payload":{"aps":{}}}}"#
  }

  private func file(_ text: String, _ folder: TemporaryFolder) throws -> String {
    let path = folder.path + "/recording.ndjson"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  @Test(arguments: [
    ("", "empty"), ("\n\n", "empty"), ("hello\n", "is no recording of `widgetpush record`; line 1"), ("{}\n", "line 1: at is missing"),
    (pushLine(1) + "\n", "begins with no line"), (#"{"at":"2027-01-31T08:00:00Z","recording":{"version":2}}"# + "\n", "version 2"),
    (beginning + "\n\n" + #"{"at":"2027-01-31T08:00:01Z","pusch":{}}"# + "\n", "line 3"),
    (beginning + "\n" + pushLine(1).dropLast(9) + "\n" + pushLine(2) + "\n", "line 2"),
    (beginning + "\n" + #"{"at":"2027-01-31T08:00:01Z","push":{"id":"7","token":"a5"}}"# + "\n", "line 2 of"),
  ]) func aBadFileIsToldWithTheLine(text: String, sign: String) throws {
    let folder = try TemporaryFolder()
    let path = try file(text, folder)
    let error = #expect(throws: CommandError.self) { try RecordingDigest(path) }
    let message = try #require(error).message
    #expect(message.contains(sign), "\(message)")
  }

  @Test func aFileThatIsNotThere() throws {
    #expect(throws: FileError.self) { try RecordingDigest("/nowhere/at/all") }
  }

  /// A recorder that is killed leaves its last line cut off anywhere.
  @Test func aLastLineThatIsCutOffIsLeftOut() throws {
    let folder = try TemporaryFolder()
    let last = Self.pushLine(2)
    for count in stride(from: 1, to: last.utf8.count, by: 7) {
      let digest = try RecordingDigest(
        file([Self.beginning, Self.pushLine(1), String(last.prefix(count))].joined(separator: "\n"), folder))
      #expect(digest.pushes == 1)
      #expect(digest.gaps == ["line 3 is cut off, and left out: the recording was ended by force"])
    }
    // Whole, but for the line's end, it counts.
    let whole = try RecordingDigest(file([Self.beginning, Self.pushLine(1), last].joined(separator: "\n"), folder))
    #expect(whole.pushes == 2)
    #expect(whole.gaps.count == 1 && whole.gaps[0].contains("ended by force, after 2027-01-31T08:00:01.000Z"), "\(whole.gaps)")
  }

  @Test func whatIsInIt() throws {
    let folder = try TemporaryFolder()
    let id = PushID(high: 9, low: 1)
    let lines = [
      Self.beginning, Self.pushLine(1), Self.pushLine(2, at: "2027-01-31T08:00:02Z", bundle: "com.example.other"),
      #"{"at":"2027-01-31T08:00:02Z","outcome":{"id":"\#(id)","disposition":"waiting","cause":"waitingForBudget"}}"#,
      #"{"at":"2027-01-31T08:00:03Z","outcome":{"id":"\#(id)","disposition":"applied"}}"#,
      #"{"at":"2027-01-31T08:00:04Z","lost":{"pushes":3,"changes":2,"outcomes":1}}"#,
      #"{"at":"2027-01-31T09:00:00Z","recording":{"version":1,"gateway":"1.2.3"}}"#,
      #"{"at":"2027-01-31T10:00:00Z","end":{"pushes":2}}"#,
    ]
    let digest = try RecordingDigest(file(lines.joined(separator: "\n") + "\n", folder))
    #expect(digest.pushes == 2 && digest.bundleIDs == ["com.example.app", "com.example.other"])
    #expect(digest.end - digest.start == .seconds(7200))
    #expect(digest.outcomes == [id: RecordedOutcome(disposition: "applied")])
    #expect(digest.gaps.count == 2, "\(digest.gaps)")
    #expect(digest.gaps[0].contains("at least 3 pushes, 2 changes") && digest.gaps[1].contains("to 2027-01-31T09:00:00"))
    // Up to a time: what came by then, and what had become of it by then.
    for limit in ["2027-01-31T08:00:02Z", "2s"] {
      let early = try RecordingDigest(
        folder.path + "/recording.ndjson", to: RecordingDigest.Limit(text: limit))
      #expect(early.pushes == 2 && early.end - early.start == .seconds(2) && early.gaps.isEmpty, "\(early)")
      #expect(early.outcomes == [id: RecordedOutcome(disposition: "waiting", cause: "waitingForBudget")], "\(early.outcomes)")
    }
    let first = try RecordingDigest(folder.path + "/recording.ndjson", to: .after(.milliseconds(1500)))
    #expect(first.pushes == 1 && first.bundleIDs == ["com.example.app"] && first.end - first.start == .milliseconds(1500))
    let whole = try RecordingDigest(folder.path + "/recording.ndjson", to: .after(.seconds(86_400)))
    #expect(whole.end == digest.end && whole.gaps == digest.gaps && whole.pushes == 2)
    let error = #expect(throws: CommandError.self) {
      try RecordingDigest(folder.path + "/recording.ndjson", to: .time(digest.start - .seconds(1)))
    }
    #expect(error?.message.contains("begins only at") == true)
    #expect(RecordingDigest.Limit(text: "yesterday") == nil)
    let one = try RecordingDigest(folder.path + "/recording.ndjson", bundleID: "com.example.other")
    #expect(one.pushes == 1 && one.bundleIDs == ["com.example.other"])
  }
}
