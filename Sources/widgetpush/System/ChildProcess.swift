import Glibc

/// A command that this process runs.
struct ChildProcess: Sendable {
  private let pid: pid_t

  /// Starts `command`, whose first word is looked for in PATH; its signals are as a shell would have them.
  init(_ command: [String], environment: [String: String]) throws {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // Servers block the signals they wait for and ignore SIGPIPE; both would be inherited.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var words: [UnsafeMutablePointer<CChar>?] = unsafe command.map { unsafe strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer {
      for index in unsafe words.indices { unsafe free(words[index]) }
      for index in unsafe variables.indices { unsafe free(variables[index]) }
    }
    var pid = pid_t()
    let code = unsafe posix_spawnp(&pid, command[0], nil, &attributes, &words, &variables)
    guard code == 0 else { throw FileError("run", command[0], code: code) }
    self.pid = pid
  }

  /// Waits for its end; returns its status, or 128 and the signal that ended it, as shells count.
  func wait() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : 128 + signal
  }

  /// Asks it to end.
  func terminate() { kill(pid, SIGTERM) }
}
