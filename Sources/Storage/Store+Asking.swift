import Primitives
import Push

// How an async call reaches the store thread and comes back.
extension Store {
  /// Runs `body` between two rounds.
  func ask<T: Sendable>(_ body: @escaping @Sendable (inout StoreCore) throws(StoreError) -> T) async throws(StoreError) -> T {
    try await suspend { core, resume in
      do throws(StoreError) { resume(.success(try body(&core))) } catch { resume(.failure(error)) }
    }
  }

  /// Runs `body` between two rounds, and answers once what it did is durable.
  func change<T: Sendable>(_ body: @escaping @Sendable (inout StoreCore) throws(StoreError) -> T) async throws(StoreError) -> T {
    try await suspend { core, resume in
      if let error = core.unreadiness { return resume(.failure(error)) }
      do throws(StoreError) {
        let value = try body(&core)
        core.afterCommit.append { error in resume(error.map { .failure($0) } ?? .success(value)) }
      } catch {
        resume(.failure(error))
      }
    }
  }

  /// Suspends until `body`, which runs on the store thread, or something that it starts, resumes.
  func suspend<T: Sendable>(
    _ body: @escaping @Sendable (inout StoreCore, @escaping @Sendable (Result<T, StoreError>) -> Void) -> Void
  ) async throws(StoreError) -> T {
    let result: Result<T, StoreError> = await withCheckedContinuation { continuation in
      if !inbox.add({ core in body(&core) { continuation.resume(returning: $0) } }) {
        continuation.resume(returning: .failure(.stopped))
      }
    }
    return try result.get()
  }
}

extension StoreCore {
  /// The registration as it is kept for listing, changes of this round included.
  func registration(_ token: DeviceToken) throws(StoreError) -> (Registration, registered: Instant)? {
    for change in state.registrationChanges.reversed() {
      switch change {
      case .put(let registration, let registered): if registration.token == token { return (registration, registered) }
      case .remove(let removed): if removed == token { return nil }
      }
    }
    return try engine.registration(token)
  }

  /// Finds out, by the registrations, which updates have a content-state that is none of their activity's.
  mutating func answerQuestions(_ batch: Batch) {
    for question in batch.questions where batch.admits.indices.contains(question.admit) {
      answer(question, about: &batch.admits[question.admit], batch)
    }
  }

  /// Notes with an update what is wrong with its content-state, if anything is. A token that is not registered is not judged.
  mutating func answer(_ question: ContentStateQuestion, about operation: inout AdmitOperation, _ batch: Batch) {
    guard let registration = try? self.registration(operation.token),
      let problem = question.problem(of: registration.0.activity?.attributesType)
    else { return }
    operation.mismatch = batch.append(problem.detail)
    // What refuses it is no warning besides.
    guard !question.isStrict else { return operation.mismatchCause = problem.cause }
    for warning in problem.warnings { operation.warnings.insert(warning.warning) }
    let details = WarningDetail.read(batch.bytes[operation.warningDetails].string) + problem.warnings
    operation.warningDetails = batch.append(WarningDetail.text(of: details))
  }
}
