import Rules

/// The first curl command of a script, as the request that it would send.
enum CurlCommand {
  /// The request, or nil when there is no curl command in the text.
  ///
  /// - Parameter read: Reads a file that the command names with `@`; nil when it cannot be read.
  static func request(_ text: String, read: @escaping (String) -> [UInt8]?) -> LintedRequest? {
    // Before its name there may be a prompt, and variables that are set for it.
    // A payload is none, and may be long.
    guard text.first(where: { !$0.isWhitespace }) != "{" else { return nil }
    // Where it is run inside another, such as r=$(curl …), what stands before its name is of no interest.
    let inner = text.indices.first { text[$0...].hasPrefix("curl ") }.map { ShellWords.commands(String(text[$0...])) } ?? []
    let commands = (ShellWords.commands(text) + inner).map { $0.drop { $0.text == "$" || $0.text.contains("=") } }
    guard var words = commands.first(where: { $0.first?.text == "curl" || $0.first?.text.hasSuffix("/curl") == true }) else { return nil }
    words.removeFirst()
    var command = Reader(read: read)
    while let word = words.popFirst() { command.take(word, &words) }
    return command.finished
  }

  /// The options of curl that take a value and say nothing about the request.
  private static let silent: Set<String> = [
    "--cacert", "--capath", "--connect-timeout", "--connect-to", "--key", "--key-type", "--cert-type", "--pass", "--max-time", "-m",
    "--output", "-o", "--write-out", "-w", "--resolve", "--retry", "--user-agent", "-A", "--proxy", "-x", "--config", "-K", "--dump-header",
    "-D", "--interface", "--tls-max", "--ciphers", "--trace", "--trace-ascii", "--stderr", "--url-query", "--max-redirs",
  ]

  private struct Reader {
    let read: (String) -> [UInt8]?
    var request = LintedRequest()
    var url: ShellWords.Word?

    init(read: @escaping (String) -> [UInt8]?) { self.read = read }

    mutating func take(_ word: ShellWords.Word, _ words: inout ArraySlice<ShellWords.Word>) {
      guard word.text.hasPrefix("-"), word.text != "-" else {
        url = word
        return
      }
      let (name, attached) = Self.split(word)
      func value() -> ShellWords.Word { attached ?? words.popFirst() ?? ShellWords.Word() }
      switch name {
      case "-H", "--header": header(value())
      case "-d", "--data", "--data-ascii", "--data-binary", "--data-raw", "--json": data(value(), isRaw: name == "--data-raw")
      case "-X", "--request": request.method = value().text
      case "-E", "--cert":
        _ = value()
        request.hasClientCertificate = true
      case "--url": url = value()
      default: if CurlCommand.silent.contains(name) { _ = value() }
      }
    }

    /// The name of an option, and what is attached to it: `-XPOST`, `--url=…`.
    private static func split(_ word: ShellWords.Word) -> (String, ShellWords.Word?) {
      if word.text.hasPrefix("--") {
        guard let equals = word.text.firstIndex(of: "=") else { return (word.text, nil) }
        let rest = String(word.text[word.text.index(after: equals)...])
        return (String(word.text[..<equals]), ShellWords.Word(text: rest, isOpen: word.isOpen))
      }
      guard word.text.count > 2 else { return (word.text, nil) }
      let name = String(word.text.prefix(2))
      // Switches stand together, as in -sSi; the last of them may take a value.
      guard "HdXEomwAxKD".contains(name.last!) else {
        return ("-" + String(word.text.last!), nil)
      }
      return (name, ShellWords.Word(text: String(word.text.dropFirst(2)), isOpen: word.isOpen))
    }

    private mutating func header(_ word: ShellWords.Word) {
      guard let colon = word.text.firstIndex(of: ":") else { return }
      let value = word.text[word.text.index(after: colon)...].drop { $0 == " " }
      request.headers.append(.init(String(word.text[..<colon]), word.isOpen ? nil : String(value)))
    }

    private mutating func data(_ word: ShellWords.Word, isRaw: Bool) {
      if !isRaw, word.text.hasPrefix("@") {
        request.body = word.isOpen ? nil : read(String(word.text.dropFirst()))
      } else {
        // As curl does: what is given in several parts is joined.
        let before = request.body.map { $0 + [UInt8(ascii: "&")] } ?? []
        request.body = word.isOpen ? nil : before + Array(word.text.utf8)
      }
      if request.method == nil { request.method = "POST" }
    }

    var finished: LintedRequest {
      var request = request
      request.method = request.method ?? "GET"
      guard let url, !url.isOpen else { return request }
      var rest = url.text[...]
      if let scheme = rest.range(of: "://") { rest = rest[scheme.upperBound...] }
      request.path = rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
      return request
    }
  }
}

extension Substring {
  /// Where `other` first stands.
  fileprivate func range(of other: String) -> Range<Index>? {
    indices.first { self[$0...].hasPrefix(other) }.map { $0..<index($0, offsetBy: other.count) }
  }
}
