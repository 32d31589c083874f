import Glibc
import Primitives

/// The executable: finds the command, runs it, and ends with its status.
@main enum Widgetpush {
  /// Every command, in the order in which help lists them.
  static let commands: [Command] = [
    .dev, .env, .gateway, .device, .register, .send, .token, .explain, .tail, .expect, .record, .replay, .lint, .budget, .clock, .reload,
    .reset,
    .faults, .importRegistrations, .export, .backup, .access, .keys, .schemas, .config, .health, .completions, .version,
  ]

  /// The status for a command line that cannot be understood.
  static let usageStatus: Int32 = 2

  static func main() {
    // A reader that closes the pipe early ends nothing here; see Console.
    signal(SIGPIPE, SIG_IGN)
    exit(run(Array(CommandLine.arguments.dropFirst())))
  }

  /// Runs a command line without the program's name; returns the exit status.
  static func run(_ words: [String]) -> Int32 {
    guard let name = words.first else {
      Console.complain(help)
      return usageStatus
    }
    if ["--help", "-h", "help"].contains(name) {
      return help(about: words.dropFirst().first)
    }
    if name == "--version" { return run(["version"]) }
    guard let command = commands.first(where: { $0.name == name }) else { return unknown(name) }
    do {
      guard let arguments = try ArgumentParser.parse(words.dropFirst(), for: command) else {
        Console.print(command.help)
        return 0
      }
      return try command.run(arguments)
    } catch let error as UsageError {
      Console.complain("widgetpush \(name): \(error)\nwidgetpush \(name) --help lists what it takes")
      return usageStatus
    } catch {
      Console.complain("widgetpush \(name): \(error)")
      return 1
    }
  }

  private static func help(about name: String?) -> Int32 {
    guard let name else {
      Console.print(help)
      return 0
    }
    guard let command = commands.first(where: { $0.name == name }) else { return unknown(name) }
    Console.print(command.help)
    return 0
  }

  private static func unknown(_ name: String) -> Int32 {
    let nearest = nearestName(to: name, among: commands.map(\.name)).map { "; did you mean \($0)?" } ?? ""
    Console.complain("widgetpush: there is no command \(name)\(nearest)\nwidgetpush --help lists the commands")
    return usageStatus
  }

  private static var help: String {
    let width = commands.map(\.name.count).max() ?? 0
    let lines = commands.map { "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))  \($0.summary)" }
    return """
      widgetpush: a reload gateway for widgets, controls and Live Activities that speaks APNs

      Usage: widgetpush COMMAND [OPTIONS]

      Commands:
      \(lines.joined(separator: "\n"))

      widgetpush COMMAND --help tells more and has an example.
      """
  }
}
