/// One option of a command.
struct Option: Sendable {
  /// Such as `--type`.
  let name: String
  /// What stands for the value in help texts; nil for a switch.
  let placeholder: String?
  /// One line for help texts, with unit and default.
  let summary: String
  /// Whether it may be given more than once.
  let isRepeatable: Bool
  /// Whether the value is a path.
  var isPath: Bool { placeholder == "FOLDER" || placeholder == "FILE" }

  /// An option with a value.
  init(_ name: String, _ placeholder: String, _ summary: String, repeatable: Bool = false) {
    self.name = name
    self.placeholder = placeholder
    self.summary = summary
    isRepeatable = repeatable
  }

  /// An option without a value.
  init(switch name: String, _ summary: String) {
    self.name = name
    placeholder = nil
    self.summary = summary
    isRepeatable = false
  }

  static let help = Option(switch: "--help", "show this text")
  static let json = Option(switch: "--json", "print JSON")
  static let stateFolder = Option("--state-dir", "FOLDER", "folder of the running dev (WIDGETPUSH_STATE_DIR, else .widgetpush)")
}
