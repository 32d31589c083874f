import JSON

extension Command {
  /// `widgetpush env`.
  static let env = Command(
    "env", "prints the addresses and credentials of a running dev as variables",
    discussion: """
      Prints the variables that dev -- COMMAND sets for its command, of the dev that runs with the state folder:
        sh        export NAME='value', for eval in a shell
        github    NAME=value, to append to $GITHUB_ENV for the steps that follow;
                  docs/testing-your-backend.md has the steps before it, which build and start a dev
        dotenv    NAME=value, for a .env file; quoted where the value needs it
      They hold access tokens: whoever has them may call the gateway, and keys are named by their files.
      """,
    options: [Option("--format", "FORMAT", "sh, github or dotenv (sh)"), .json, .stateFolder],
    examples: [
      "eval \"$(widgetpush env)\"", "widgetpush env --format github >>\"$GITHUB_ENV\"", "widgetpush env --format dotenv >.env",
    ]
  ) { arguments in
    let name = try arguments.choice("--format", of: VariableFormat.allCases.map(\.rawValue))
    guard name == nil || !arguments.wantsJSON else { throw UsageError("--format and --json are two answers to one question") }
    let folder = StateFolder(arguments)
    let client = try ControlClient(folder)
    // What a dev that was killed has left behind leads nowhere.
    _ = try client.get("/livez")
    let variables = CommandEnvironment.variables(client.credentials, folder).sorted { $0.key < $1.key }
    if arguments.wantsJSON {
      Console.print(JSONValue.object(JSONObject(variables.map { ($0.key, JSONValue.string($0.value)) })).serialized(pretty: true))
    } else {
      let format = name.flatMap(VariableFormat.init) ?? .sh
      for (name, value) in variables { Console.print(format.line(name, value)) }
    }
    return 0
  }
}
