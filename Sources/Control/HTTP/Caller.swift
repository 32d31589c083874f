import Synchronization

/// Who makes a request, once an access token of theirs has been admitted: the request's task finds out, and its loop is told.
public final class Caller: Sendable {
  private let admitted = Mutex("")
  private let whenAdmitted: (@Sendable () -> Void)?

  /// Nobody is known yet; `whenAdmitted` is called once somebody is, on any thread.
  init(whenAdmitted: (@Sendable () -> Void)? = nil) { self.whenAdmitted = whenAdmitted }

  /// The name of the access token; empty while none was admitted.
  var name: String { admitted.withLock { $0 } }

  /// The access token of that name is good for what is asked.
  func admit(_ name: String) {
    admitted.withLock { $0 = name }
    whenAdmitted?()
  }
}
