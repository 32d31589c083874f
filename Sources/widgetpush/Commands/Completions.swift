extension Command {
  /// `widgetpush completions`.
  static let completions = Command(
    "completions", "prints what a shell needs to complete commands and options", operands: "bash | zsh | fish", count: 1...1,
    discussion: """
      Prints a script for bash, zsh or fish that completes commands, their own words such as those of clock, options, and files where
      an option wants one.
      """,
    options: [],
    examples: [
      "source <(widgetpush completions bash)", "widgetpush completions zsh >~/.zfunc/_widgetpush",
      "widgetpush completions fish >~/.config/fish/completions/widgetpush.fish",
    ]
  ) { arguments in
    guard let shell = CompletionScript(rawValue: arguments.operands[0]) else {
      throw UsageError("the shell must be one of bash, zsh, fish, not \"\(arguments.operands[0])\"")
    }
    Console.print(shell.text(of: Widgetpush.commands))
    return 0
  }
}
