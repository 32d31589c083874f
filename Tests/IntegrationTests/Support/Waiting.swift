import Foundation

/// What went wrong in the harness itself, in words.
struct HarnessError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Returns as soon as `condition` holds, and throws naming `what` when it does not within `limit`.
func eventually(within limit: Duration = .seconds(120), _ what: @autoclosure () -> String, _ condition: () async throws -> Bool)
  async throws
{
  let deadline = ContinuousClock.now + limit
  while try await !condition() {
    guard ContinuousClock.now < deadline else { throw HarnessError("not within \(limit): \(what())") }
    try await Task.sleep(for: .milliseconds(5))
  }
}
