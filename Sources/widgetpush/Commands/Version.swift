import JSON

/// The version of the product.
enum Version {
  /// Semantic version text, which `/version` shows too.
  static let text = "0.1.0"
}

extension Command {
  /// `widgetpush version`.
  static let version = Command(
    "version", "prints the version", discussion: "Prints the version of this executable. A server's own is at GET /version.",
    options: [.json], examples: ["widgetpush version"]
  ) { arguments in
    let json: JSONValue = ["name": "widgetpush", "version": .string(Version.text)]
    Console.print(arguments.wantsJSON ? json.serialized() : "widgetpush \(Version.text)")
    return 0
  }
}
