import Glibc
import Primitives
import Reactor

/// The machine and the environment that the process finds itself in.
enum Machine {
  /// The environment that the process was started with.
  static let environment: [String: String] = {
    guard let text = try? Files.read("/proc/self/environ") else { return [:] }
    var variables: [String: String] = [:]
    for entry in text.split(separator: "\0") {
      guard let equals = entry.firstIndex(of: "=") else { continue }
      variables[String(entry[..<equals])] = String(entry[entry.index(after: equals)...])
    }
    return variables
  }()

  /// The machine's name, as certificates should have it.
  static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "localhost" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Whether whoever started the process has it ignore that signal.
  static func ignores(_ signal: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
    // SIG_IGN is the address 1, which Swift cannot compare as a function.
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Whether the terminal that the process reads from or writes to is gone.
  static var hasLostTerminal: Bool {
    var settings = termios()
    return (STDIN_FILENO...STDERR_FILENO).contains { unsafe tcgetattr($0, &settings) != 0 && errno == EIO }
  }

  /// Whether what is printed goes to a terminal whose user wants colours (https://no-color.org).
  static var showsColours: Bool {
    isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  /// Does nothing for a while.
  static func sleep(_ span: TimeSpan) {
    var left = timespec(tv_sec: Int(span.nanoseconds / 1_000_000_000), tv_nsec: Int(span.nanoseconds % 1_000_000_000))
    var rest = timespec()
    while unsafe nanosleep(&left, &rest) != 0 && errno == EINTR { left = rest }
  }

  /// What the machine's clock showed when this was first asked, and what has passed since, however that clock was set (`Moment.steady`).
  static var steady: Instant { origin.date + (Uptime.read() - origin.uptime) }

  private static let origin = (date: now, uptime: Uptime.read())

  /// The time of the machine's clock.
  static var now: Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
