/// Why a command could not do its work, for the person at the terminal.
struct CommandError: Error, Hashable, CustomStringConvertible {
  /// What is wrong and what may help.
  let message: String

  init(_ message: String) { self.message = message }

  var description: String { message }
}
