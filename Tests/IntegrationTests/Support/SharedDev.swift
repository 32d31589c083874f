import Synchronization

/// One `widgetpush dev` that many tests share; each uses push tokens of its own, so that none sees another's pushes.
enum SharedDev {
  private static let task = Mutex<Task<Deployment, any Error>?>(nil)

  /// The running one, started by whoever asks first.
  static func deployment() async throws -> Deployment {
    let running = task.withLock { task in
      let running = task ?? Task { try await Deployment.start(["dev"]) }
      task = running
      return running
    }
    return try await running.value
  }
}
