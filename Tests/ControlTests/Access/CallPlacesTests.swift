import Control
import JSON
import Push
import Testing

@Suite("Shares of calls, and pages") struct CallPlacesTests {
  private static func grant(_ name: String, _ apps: Set<String>? = nil) -> Grant { Grant(name: name, scopes: [.read], bundleIDs: apps) }

  private func refusal(_ places: CallPlaces, _ grant: Grant, _ bundleID: String? = nil) -> ControlError? {
    do throws(ControlError) {
      _ = try places.take(grant, bundleID: bundleID)
      return nil
    } catch {
      return error
    }
  }

  /// Two tokens of one app together get its share, and the other app has room as before.
  @Test func anAppHasItsShare() throws {
    let places = CallPlaces(16, for: "calls that wait")
    let (one, two) = (Self.grant("one", ["com.a"]), Self.grant("two", ["com.a", "com.b"]))
    var taken = [
      try places.take(one), try places.take(one), try places.take(two, bundleID: "com.a"), try places.take(two, bundleID: "com.a"),
    ]
    let error = refusal(places, one)
    #expect(error?.status == 429 && error?.code == "shareUsedUp" && error?.fields["retry-after"] == "1")
    #expect(error?.message == #"the app "com.a" has its share of calls that wait, which is 4; end one first"#)
    #expect(refusal(places, two) != nil, "without an app named it is for both")
    #expect(refusal(places, two, "com.b") == nil)
    #expect(refusal(places, Self.grant("three", ["com.c"])) == nil)
    taken.removeLast()
    #expect(refusal(places, one) == nil)
  }

  /// A token that sees all apps has half, and the last quarter is for those who have none.
  @Test func aTokenHasItsShare() throws {
    let places = CallPlaces(16, for: "calls that wait")
    var taken = try (0..<8).map { _ in try places.take(Self.grant("admin")) }
    #expect(refusal(places, Self.grant("admin"))?.message.hasPrefix(#"the access token "admin" has its share of calls"#) == true)
    taken += try (0..<4).map { _ in try places.take(Self.grant("other")) }
    #expect(refusal(places, Self.grant("other"))?.message.contains("kept for those who have none") == true)
    for name in ["com.a", "com.b", "com.c", "com.d"] { taken.append(try places.take(Self.grant(name, [name]))) }
    #expect(refusal(places, Self.grant("com.e", ["com.e"]))?.status == 503)
    taken.removeAll()
    #expect(refusal(places, Self.grant("admin")) == nil)
  }

  /// A page ends with the row that goes beyond its bytes, and is the JSON that it would be otherwise.
  @Test func aPageIsBoundedInBytes() throws {
    let rows = (0..<100).map { "row \($0) " + String(repeating: "x", count: 90) }
    var page = PageBody("rows", bytesMax: 1000)
    let last = page.fill(rows) { .string($0) }
    #expect(last == rows[page.count - 1] && page.count == 11)
    let json = try JSONValue.parse(page.response(["next": "more"]).body)
    #expect(json == ["rows": .array(rows.prefix(11).map { .string($0) }), "next": "more"])
    var whole = PageBody("rows")
    #expect(whole.fill(rows, { .string($0) }) == nil)
    #expect(try JSONValue.parse(whole.response().body) == ["rows": .array(rows.map { .string($0) })])
    // One row is told however large it is.
    var one = PageBody("rows", bytesMax: 1)
    #expect(one.fill(rows, { .string($0) }) == rows[0])
    var none = PageBody("rows")
    #expect(none.fill([String](), { .string($0) }) == nil)
    #expect(none.response(["next": .null]).body == Array("{\"rows\":[],\"next\":null}\n".utf8))
  }
}
