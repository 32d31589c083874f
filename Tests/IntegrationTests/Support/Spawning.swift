import Foundation
import Synchronization

/// Starting processes, one at a time: a pipe end must not slip into another child between its making and its close-on-exec flag.
enum Spawning {
  private static let turn = Mutex(())

  /// A process's id and our ends of its pipes, all close-on-exec.
  struct Child {
    let pid: pid_t
    let input, output, errors: Int32
  }

  /// Starts `command` with pipes for its three standard streams, no signal blocked.
  static func start(_ command: [String], environment: [String: String]) throws -> Child {
    try turn.withLock { _ in
      let (stdin, stdout, stderr) = (try pipe(), try pipe(), try pipe())
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      for (end, target) in [(stdin.reading, 0), (stdout.writing, 1), (stderr.writing, 2)] {
        posix_spawn_file_actions_adddup2(&actions, end, Int32(target))
      }
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      var none = sigset_t()
      sigemptyset(&none)
      var defaults = sigset_t()
      sigemptyset(&defaults)
      sigaddset(&defaults, SIGPIPE)
      posix_spawnattr_setsigmask(&attributes, &none)
      posix_spawnattr_setsigdefault(&attributes, &defaults)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

      let argv: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
      let envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
      defer { (argv + envp).forEach { free($0) } }
      var pid: pid_t = 0
      let error = posix_spawnp(&pid, command[0], &actions, &attributes, argv, envp)
      [stdin.reading, stdout.writing, stderr.writing].forEach { close($0) }
      guard error == 0 else {
        [stdin.writing, stdout.reading, stderr.reading].forEach { close($0) }
        throw HarnessError("cannot start \(command[0]): \(String(cString: strerror(error)))")
      }
      return Child(pid: pid, input: stdin.writing, output: stdout.reading, errors: stderr.reading)
    }
  }

  private static func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Foundation.pipe(&ends) == 0 else { throw HarnessError("no pipe: errno \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
