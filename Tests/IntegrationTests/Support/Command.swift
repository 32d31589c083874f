import Foundation

/// What a command that ran to its end did.
struct CommandResult: Sendable {
  /// The exit status, or 128 and the signal's number.
  let status: Int32
  let standardOutput: Data
  let standardError: String

  /// Standard output as text.
  var text: String { String(decoding: standardOutput, as: UTF8.self) }
}

/// Runs a command to its end; the harness fails when that takes longer than `limit`.
@discardableResult
func run(_ command: [String], environment: [String: String] = [:], input: Data = Data(), within limit: Duration = .seconds(60)) async throws
  -> CommandResult
{
  let process = try ChildProcess(command, environment: environment, input: input)
  do {
    let status = try await process.waitForExit(within: limit)
    return CommandResult(status: status, standardOutput: process.output.data, standardError: process.errors.text)
  } catch {
    process.signal(SIGKILL)
    throw HarnessError("\(command.joined(separator: " ")): \(error)\n\(process.output.text)\n\(process.errors.text)")
  }
}

/// Runs a command and returns its standard output; a non-zero status is the harness's failure.
func output(_ command: [String], input: Data = Data()) async throws -> Data {
  let result = try await run(command, input: input)
  guard result.status == 0 else {
    throw HarnessError("\(command.joined(separator: " ")): status \(result.status)\n\(result.standardError)")
  }
  return result.standardOutput
}
