import CLinux
import Glibc
import Synchronization

/// A thread of the operating system, for work that must not share one with others.
public final class Thread: Sendable {
  /// The system's handle; nil once somebody has joined.
  private let handle: Mutex<pthread_t?>

  /// What the new thread finds: its name and its work.
  private final class Start {
    let name: String
    let body: () -> Void
    init(name: String, body: @escaping () -> Void) {
      self.name = name
      self.body = body
    }
  }

  private init(handle: pthread_t) { self.handle = Mutex(handle) }

  deinit {
    if let handle = handle.withLock({ $0 }) { pthread_detach(handle) }
  }

  /// Starts a thread that runs `body` and ends; debuggers show the first 15 bytes of `name`.
  @discardableResult
  public static func start(name: String, _ body: sending @escaping () -> Void) throws(SystemError) -> Thread {
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    var handle = pthread_t()
    let code = pthread_create(
      &handle, nil,
      { argument in
        let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
        c_linux_name_thread(String(decoding: start.name.utf8.prefix(15), as: UTF8.self))
        start.body()
        return nil
      }, start.toOpaque())
    guard code == 0 else {
      start.release()
      throw SystemError(call: "pthread_create", code: code)
    }
    return Thread(handle: handle)
  }

  /// Waits until the thread has ended; a second call returns at once.
  public func join() {
    let taken = handle.withLock { handle in
      let taken = handle
      handle = nil
      return taken
    }
    if let taken { pthread_join(taken, nil) }
  }
}
