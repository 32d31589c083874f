import JSON
import Primitives
import Push
import Testing

/// Lists whose rows are as large as they may be: no page is much larger than the bound, and all pages together have every row.
@Suite("Control API: large pages", .timeLimit(.minutes(10))) struct PageAPITests {
  /// Calls a list page by page; the rows, and the bytes of the largest page.
  private func rows(_ stage: APIStage, _ target: String, _ name: String) async throws -> (rows: [JSONValue], largest: Int, pages: Int) {
    var (rows, largest, pages): ([JSONValue], Int, Int) = ([], 0, 0)
    var next: String?
    repeat {
      let answer = try await stage.call(.get, target + (next.map { "&after=\($0)" } ?? ""), as: "admin")
      try #require(answer.status == 200, "\(answer.text.prefix(500))")
      rows += try #require(answer.json[name]?.arrayValue)
      (largest, pages) = (max(largest, answer.text.utf8.count), pages + 1)
      next = answer.json["next"]?.stringValue
    } while next != nil && pages < 1000
    return (rows, largest, pages)
  }

  @Test func registrations() async throws {
    let stage = try APIStage()
    let name = String(repeating: "n", count: Limits.nameBytes)
    let widgets = (0..<Limits.widgetsPerRegistration).map { index -> JSONValue in
      ["id": .string("\(index)" + name.dropLast(3)), "kind": .string(name), "family": "systemSmall"]
    }
    for number in 0..<150 {
      let answer = try await stage.call(
        .put, "/v1/registrations/\(APIStage.token(number))",
        [
          "type": "widgets", "bundleID": .string(APIStage.bundle), "environment": "development", "widgets": .array(widgets),
          "user": .string(name), "device": .string(name),
        ])
      try #require(answer.status == 201, "\(answer.text)")
    }
    let (rows, largest, pages) = try await rows(stage, "/v1/registrations?limit=1000", "registrations")
    #expect(rows.map { $0["token"]?.stringValue } == (0..<150).map { APIStage.token($0) })
    // The row that goes beyond is the last.
    #expect(pages > 2 && largest < Limits.pageBytes + 64 * 1024, "\(pages) pages of \(largest) bytes")
  }

  @Test func pushes() async throws {
    let stage = try APIStage()
    let detail = String(repeating: "d", count: Limits.detailBytes)
    for number in 1...2500 { try await stage.refuse(number, .badTopic, detail: detail) }
    let (rows, largest, pages) = try await rows(stage, "/v1/pushes?limit=1000", "pushes")
    #expect(rows.count == 2500 && Set(rows.map { $0["id"]?.stringValue }).count == 2500)
    #expect(pages > 3 || largest < Limits.pageBytes + 8192, "\(pages) pages of \(largest) bytes")
    #expect(largest < Limits.pageBytes + 8192)
  }

  @Test func reloads() async throws {
    let stage = try APIStage()
    let users = (0..<Limits.reloadNames).map { number -> JSONValue in .string("\(number) " + String(repeating: "u", count: 240)) }
    for _ in 0..<20 {
      let answer = try await stage.call(.post, "/v1/reloads", ["bundleID": .string(APIStage.bundle), "users": .array(users)])
      try #require(answer.status == 202, "\(answer.text.prefix(500))")
    }
    let (rows, largest, pages) = try await rows(stage, "/v1/reloads?limit=1000", "reloads")
    #expect(rows.count == 20 && pages > 2 && largest < Limits.pageBytes + (512 << 10), "\(pages) pages of \(largest) bytes")
  }
}
