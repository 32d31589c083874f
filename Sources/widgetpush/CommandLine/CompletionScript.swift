/// The completion of one shell: what it is told of the commands, written once from what help tells of them.
enum CompletionScript: String, CaseIterable, Sendable {
  case bash, zsh, fish

  /// The script for these commands.
  func text(of commands: [Command]) -> String {
    switch self {
    case .bash: Self.bash(commands)
    case .zsh: Self.zsh(commands)
    case .fish: Self.fish(commands)
    }
  }

  /// A word in single quotes, as all three read it.
  private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }

  private static func bash(_ commands: [Command]) -> String {
    let paths = Set(commands.flatMap(\.options).filter(\.isPath).map(\.name)).sorted()
    let values = Set(commands.flatMap(\.options).filter { $0.placeholder != nil && !$0.isPath }.map(\.name)).sorted()
    let cases = commands.map { command in
      let verbs = command.verbs.isEmpty ? "" : " verbs=\(quoted(command.verbs.map(\.name).joined(separator: " ")))"
      return "    \(command.name)) words=\(quoted(command.options.map(\.name).joined(separator: " ")))\(verbs);;"
    }
    let followers = commands.flatMap { command in
      command.verbs.filter { !$0.values.isEmpty }.map { verb in
        "    \(quoted("\(command.name) \(verb.name)"))) verbs=\(quoted(verb.values.joined(separator: " ")));;"
      }
    }
    return """
      _widgetpush() {
        local words verbs word current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
          COMPREPLY=($(compgen -W \(quoted((commands.map(\.name) + ["help"]).joined(separator: " "))) -- "$current"))
          return
        fi
        case $previous in
          \(paths.joined(separator: "|"))) COMPREPLY=($(compgen -f -- "$current")); return;;
          \(values.joined(separator: "|"))) return;;
        esac
        case ${COMP_WORDS[1]} in
      \(cases.joined(separator: "\n"))
          help) words=\(quoted(commands.map(\.name).joined(separator: " ")));;
          *) return;;
        esac
        for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
          case " $verbs " in *" $word "*) verbs=; break;; esac
        done
        case "${COMP_WORDS[1]} $previous" in
      \(followers.joined(separator: "\n"))
        esac
        if [ -n "$verbs" ] && [ "${current#-}" = "$current" ]; then
          COMPREPLY=($(compgen -W "$verbs" -- "$current"))
          return
        fi
        COMPREPLY=($(compgen -W "$words" -- "$current"))
        if [ "${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
      }
      complete -o filenames -F _widgetpush widgetpush
      """
  }

  private static func zsh(_ commands: [Command]) -> String {
    /// What stands in brackets ends at one, and what stands before a colon names a value.
    func described(_ text: String) -> String { text.replacing("[", with: "(").replacing("]", with: ")").replacing(":", with: "\\:") }
    let names = commands.map { quoted("\($0.name):\(described($0.summary))") }.joined(separator: " ")
    let cases = commands.map { command in
      let options = command.options.map { option in
        let value = option.placeholder.map { ":\($0.lowercased()):\(option.isPath ? "_files" : " ")" } ?? ""
        return quoted("\(option.isRepeatable ? "*" : "")\(option.name)[\(described(option.summary))]\(value)")
      }
      var operands: [String] = []
      if !command.verbs.isEmpty { operands.append(quoted("1:word:(\(command.verbs.map(\.name).joined(separator: " ")))")) }
      let values = command.verbs.flatMap(\.values)
      if !values.isEmpty { operands.append(quoted("2:value:(\(values.joined(separator: " ")))")) }
      return "    \(command.name)) _arguments \((options + operands).joined(separator: " ")) '*:file:_files';;"
    }
    return """
      #compdef widgetpush
      _widgetpush() {
        local -a names
        names=(\(names))
        if (( CURRENT == 2 )); then
          _describe command names
          return
        fi
        shift words
        (( CURRENT-- ))
        case $words[1] in
      \(cases.joined(separator: "\n"))
        esac
      }
      compdef _widgetpush widgetpush
      """
  }

  private static func fish(_ commands: [Command]) -> String {
    var lines = ["complete -c widgetpush -f"]
    for command in commands {
      lines.append("complete -c widgetpush -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))")
      let seen = "__fish_seen_subcommand_from"
      let verbs = command.verbs.map(\.name).joined(separator: " ")
      if !verbs.isEmpty {
        lines.append("complete -c widgetpush -n '\(seen) \(command.name); and not \(seen) \(verbs)' -a \(quoted(verbs))")
      }
      for verb in command.verbs where !verb.values.isEmpty {
        lines.append(
          "complete -c widgetpush -n '\(seen) \(command.name); and \(seen) \(verb.name)' -a \(quoted(verb.values.joined(separator: " ")))")
      }
      for option in command.options {
        let value = option.placeholder == nil ? "" : option.isPath ? " -r -F" : " -x"
        lines.append(
          "complete -c widgetpush -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name.dropFirst(2))\(value) -d \(quoted(option.summary))"
        )
      }
    }
    return lines.joined(separator: "\n")
  }
}
