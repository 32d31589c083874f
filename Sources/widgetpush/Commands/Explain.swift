import JSON

extension Command {
  /// `widgetpush explain`.
  static let explain = Command(
    "explain", "tells what became of a push, why, and what to do", operands: "APNS-ID | TOKEN | PREFIX", count: 0...1,
    discussion: """
      Shows the whole life of the push with that apns-id: what happened and when, why, and what to do about it.
      With a push token it shows the token's registration and its latest pushes, the newest in full; when none has reached
      it, what came nearest: a push to a token that is nearly this one, or for the same app. The first digits of an apns-id
      or a token will do where they are unambiguous.
      """,
    options: [Option(switch: "--last", "the newest push of all"), .json, .stateFolder],
    examples: ["widgetpush explain --last", "widgetpush explain 5f0c2a7e"]
  ) { arguments in
    guard arguments.has("--last") != (arguments.operands.first != nil) else {
      throw UsageError("either an apns-id, a token or a prefix of one, or --last")
    }
    let finder = PushFinder(client: try ControlClient(arguments))
    let found = try arguments.operands.first.map { name throws(CommandError) in try finder.find(name) } ?? .push(try finder.last())
    switch found {
    case .push(let push):
      let kin = finder.kin(push)
      if arguments.wantsJSON, case .object(var json) = push {
        json["nearest"] = kin?.json
        Console.print(JSONValue.object(json).serialized(pretty: true))
      } else {
        Console.print(PushStory.text(of: push, waiting: finder.waiting(push), kin: kin))
      }
    case .token(let token, let registration, let pushes, let symptom):
      let kin = registration == nil && !pushes.isEmpty ? finder.kin(of: token) : nil
      if arguments.wantsJSON {
        // A token that pushes reached has no symptom, and may still be another one mistyped.
        var json: JSONObject = ["token": .string(token), "registration": registration ?? .null, "pushes": .array(pushes)]
        json["nearest"] = symptom?.json ?? kin.map { .array([$0.json]) }
        Console.print(JSONValue.object(json).serialized(pretty: true))
      } else {
        let waiting = pushes.first.flatMap(finder.waiting)
        Console.print(TokenStory.text(of: token, registration, pushes, waiting: waiting, symptom: symptom, kin: kin))
      }
    }
    return 0
  }
}
