/// Why a command could not do its work, for the person at the terminal.
struct CommandError: Error, Hashable, CustomStringConvertible {
  /// What is wrong and what may help.
  let message: String
  /// Whether the same may go well a moment later.
  var isPassing = false

  init(_ message: String) { self.message = message }

  var description: String { message }
}
