import Primitives
import Push
import Testing

@testable import Storage

@Suite("Pages of registrations, in bytes") struct RegistrationPageTests {
  private static let name = String(repeating: "n", count: Limits.nameBytes)

  private static func large(_ number: Int) -> Registration {
    var registration = Bench.registration(
      number, widgets: (0..<8).map { Registration.Widget(id: "\($0)", kind: name, family: "systemSmall") })
    registration.user = name
    return registration
  }

  /// A page ends with the row that goes beyond its bytes, in either engine, and the next one goes on behind it.
  @Test(arguments: [true, false]) func aPageEndsWithTheRowThatGoesBeyond(inMemory: Bool) throws {
    let folder = Folder()
    let engine: any Engine = inMemory ? MemoryEngine() : try SQLiteEngine(path: folder.store)
    defer { engine.close() }
    let bench = try Bench(engine: engine)
    for number in 0..<40 { try bench.register(Self.large(number)) }
    try bench.commit()
    let row = Self.large(0).bytesOfNames
    var query = RegistrationQuery(limit: 1000)
    query.bytes = 10 * row - 1
    var (found, pages): ([DeviceToken], [Int]) = ([], [])
    while true {
      let page = try engine.registrations(query).map(\.0)
      found += page.map(\.token)
      pages.append(page.count)
      guard query.isFilled(by: page) else { break }
      query.after = page.last?.token
    }
    #expect(pages == [10, 10, 10, 10, 0])
    #expect(Set(found).count == 40 && found == found.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) })
    query.after = nil
    query.bytes = .max
    #expect(try engine.registrations(query).count == 40)
    #expect(!query.isFilled(by: try engine.registrations(query).map(\.0)))
    // One is told however large it is.
    query.bytes = 0
    #expect(try engine.registrations(query).count == 1)
  }
}
