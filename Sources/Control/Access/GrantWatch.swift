import Primitives

/// Ends what an access token has begun, once it permits that no longer: calls that wait and bodies that are written for hours.
///
/// A token is revoked, or expires, or loses an app, by the machine's clock and whenever somebody re-reads the configuration. Nobody tells
/// those calls; so they are asked about at regular intervals.
struct GrantWatch: Sendable {
  /// What is wrong with the token by now; nil while nothing is.
  let problem: @Sendable () -> ControlError?
  /// How often it is asked about.
  let interval: TimeSpan

  /// Answers a request that may wait long, or ends it.
  func answering(
    _ body: @escaping @Sendable () async throws(ControlError) -> HTTPResponse
  ) async throws(ControlError) -> HTTPResponse {
    let result = await withTaskGroup(of: Result<HTTPResponse, ControlError>?.self) { group in
      group.addTask {
        await untilRevoked()
        return nil
      }
      group.addTask {
        do throws(ControlError) { return .success(try await body()) } catch { return .failure(error) }
      }
      var result: Result<HTTPResponse, ControlError>?
      for await ended in group {
        if let ended { result = ended }
        group.cancelAll()
      }
      return result
    }
    if let problem = problem() { throw problem }
    guard let result else { preconditionFailure("the call has ended") }
    return try result.get()
  }

  /// The same body, which ends with the token.
  func over(_ stream: BodyStream) -> BodyStream {
    BodyStream { writer in
      await withTaskGroup { group in
        group.addTask { await untilRevoked() }
        group.addTask { await stream.run(writer) }
        await group.next()
        group.cancelAll()
      }
    }
  }

  /// Returns once the token is no longer good, or the task is cancelled.
  private func untilRevoked() async {
    repeat {
      guard (try? await Task.sleep(for: .nanoseconds(interval.nanoseconds))) != nil else { return }
    } while problem() == nil
  }
}
