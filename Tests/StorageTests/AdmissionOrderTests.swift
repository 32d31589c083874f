import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// What a token has against a push is asked in the order of apns.md section 5.3: the first that is wrong answers.
@Suite("Order of admission") struct AdmissionOrderTests {
  /// What can be wrong, in the order in which it is asked.
  enum Fault: Int, CaseIterable {
    case unknown, otherEnvironment, otherApp, otherKind, retired, laneFull

    var refusal: (Reason, Cause) {
      switch self {
      case .unknown: (.badDeviceToken, .tokenUnknown)
      case .otherEnvironment: (.badDeviceToken, .otherEnvironment)
      case .otherApp: (.deviceTokenNotForTopic, .otherApp)
      case .otherKind: (.deviceTokenNotForTopic, .otherKind)
      case .retired: (.unregistered, .unregistered)
      case .laneFull: (.tooManyRequests, .laneFull)
      }
    }
  }

  private func result(_ faults: Set<Fault>) throws -> Admission {
    let bench = try Bench { $0.lanePushes = 2 }
    try bench.register(Bench.registration(1, .app))
    try bench.push(1, .alert)
    if faults.contains(.retired) {
      try bench.complete(.unregistered(bench.now))
    } else if faults.contains(.laneFull) {
      for id in 2...3 { try bench.push(id, .alert) }
    }
    let batch = Batch()
    var operation = Bench.operation(
      batch, id: 9, token: Bench.token(faults.contains(.unknown) ? 2 : 1), type: faults.contains(.otherKind) ? .voip : .alert,
      at: bench.now,
      bundleID: faults.contains(.otherApp) ? "com.other" : Bench.bundle)
    if faults.contains(.otherEnvironment) { operation.environment = .production }
    batch.admits.append(operation)
    try bench.settle(batch)
    return batch.admits[0].result
  }

  private func isRefused(_ result: Admission, for fault: Fault) -> Bool {
    guard case .refused(let reason, let cause, _, _) = result else { return false }
    return (reason, cause) == fault.refusal
  }

  @Test(arguments: Fault.allCases, Fault.allCases) func theFirstFaultAnswers(first: Fault, second: Fault) throws {
    guard first.rawValue <= second.rawValue else { return }
    #expect(isRefused(try result([first, second]), for: first))
  }

  @Test(arguments: Fault.allCases) func allTheLaterOnesAreSilent(first: Fault) throws {
    #expect(isRefused(try result(Set(Fault.allCases.filter { $0.rawValue >= first.rawValue })), for: first))
  }

  @Test func withoutAFaultItIsTaken() throws { #expect(try result([]).disposition == .waiting) }
}
