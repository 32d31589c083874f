import Delivery
import Primitives
import Push
import Testing

@testable import Storage

@Suite("Reload signals") struct ReloadTests {
  @Test func aBurstGoesAtOnceAndOnceMore() throws {
    let bench = try Bench()
    var registration = Bench.registration(1, widgets: [.init(kind: "Clock", family: "systemSmall")])
    registration.minimumInterval = .seconds(2)
    try bench.register(registration)
    let start = bench.now
    var results: [Admission] = []
    for id in 0..<200 { results.append(try bench.push(id)) }
    #expect(results[0] == .forwarded)
    #expect(results[1] == .waiting(due: nil, .minimumInterval))
    #expect(results[2...].allSatisfy { $0 == .merged(into: Bench.id(1)) })
    #expect(bench.forwarded.map(\.push.id) == [Bench.id(0)])

    bench.now = start + .milliseconds(50)
    try bench.complete(.finished(.applied, .reloaded))
    #expect(bench.forwarded.count == 1)
    try bench.advance(to: start + .milliseconds(1999))
    #expect(bench.forwarded.count == 1)
    try bench.advance(to: start + .seconds(60))
    #expect(bench.forwarded.map(\.push.id) == [Bench.id(0), Bench.id(1)])
    #expect(bench.forwarded[1].at == start + .seconds(2))
    try bench.complete(.finished(.applied, .reloaded))

    let records = (0..<200).map { bench.record($0)! }
    #expect(records.allSatisfy { $0.status == 200 })
    #expect(records.filter { $0.disposition == .applied }.count == 2)
    #expect(records.filter { $0.disposition == .merged && $0.mergedInto == Bench.id(1) }.count == 198)
    #expect(bench.budgets(registration)?[0].remaining == 12 - 2)
    #expect(records[1].steps.map(\.disposition) == [.waiting, .forwarding, .applied])
    #expect(records[1].steps[1].budgetBefore == 11 && records[1].steps[1].budgetAfter == 10)
  }
}
