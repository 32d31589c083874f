import JSON
import Push
import Rules

/// Reads the words of a curl command into the requests that it would send.
struct CurlReader {
  /// A request whose URLs are not known to be all.
  private struct Draft {
    var request = LintedRequest()
    var urls: [ShellCommand.Word] = []
    /// Whether the data goes into the URL.
    var isGet = false
    var hasData = false
    var unreadFile: String?
    /// Whether the script does not tell what the data is.
    var isUnknown = false

    var body: CurlBody? {
      didSet { (request.body, request.bodyGaps) = (body?.bytes, body?.gaps ?? []) }
    }
  }

  private let input: CurlInput
  private let read: (String) -> [UInt8]?
  private var draft = Draft()
  private var finished: [Draft] = []

  init(input: CurlInput, read: @escaping (String) -> [UInt8]?) {
    self.input = input
    self.read = read
  }

  /// Reads the words after the command's name.
  mutating func take(_ words: ArraySlice<ShellCommand.Word>) {
    var words = words
    while let word = words.popFirst() {
      if word.text.hasPrefix("--"), word.text.count > 2 {
        long(word, &words)
      } else if word.text.hasPrefix("-"), word.text.count > 1 {
        short(word, &words)
      } else {
        draft.urls.append(word)
      }
    }
    finished.append(draft)
  }

  private mutating func long(_ word: ShellCommand.Word, _ words: inout ArraySlice<ShellCommand.Word>) {
    guard let equals = word.text.firstIndex(of: "=") else { return option(word.text, nil, &words) }
    option(String(word.text[..<equals]), word.suffix(from: word.text.index(after: equals)), &words)
  }

  /// Switches stand together, as in `-sSi`; the first that takes a value has the rest of the word, or the next one.
  private mutating func short(_ word: ShellCommand.Word, _ words: inout ArraySlice<ShellCommand.Word>) {
    var letters = word.text.dropFirst()
    while let letter = letters.popFirst() {
      let name = CurlOptions.longNames[letter]
      guard CurlOptions.letters.contains(letter) else {
        if let name { option(name, nil, &words) }
        continue
      }
      let value =
        letters.isEmpty && !word.isOpen
        ? words.popFirst() ?? ShellCommand.Word() : word.suffix(from: letters.startIndex)
      if let name { option(name, value, &words) }
      return
    }
  }

  private mutating func option(_ name: String, _ attached: ShellCommand.Word?, _ words: inout ArraySlice<ShellCommand.Word>) {
    func value() -> ShellCommand.Word { attached ?? words.popFirst() ?? ShellCommand.Word() }
    switch name {
    case "--header": header(value())
    case "--data", "--data-ascii", "--data-binary": data(value(), isRaw: false)
    case "--data-raw": data(value(), isRaw: true)
    case "--json": data(value(), isRaw: false, separator: [])
    case "--data-urlencode", "--form", "--form-string":
      _ = value()
      draft.hasData = true
    case "--request":
      let method = value()
      draft.request.method = method.isOpen ? nil : method.text
      if method.isOpen { draft.request.mayHaveMore = true }
    case "--get": draft.isGet = true
    case "--head": draft.request.method = draft.request.method ?? "HEAD"
    case "--upload-file":
      let file = value()
      draft.request.method = draft.request.method ?? "PUT"
      body(file)
    case "--cert":
      _ = value()
      draft.request.hasClientCertificate = true
    case "--config":
      _ = value()
      draft.request.mayHaveMore = true
    case "--http1.0", "--http1.1": draft.request.http1Option = name
    case "--http2", "--http2-prior-knowledge", "--http3", "--http3-only": draft.request.http1Option = nil
    case "--url": draft.urls.append(value())
    case "--next":
      finished.append(draft)
      draft = Draft()
    default: if CurlOptions.silent.contains(name) { _ = value() }
    }
  }

  private mutating func header(_ word: ShellCommand.Word) {
    guard let colon = word.text.firstIndex(of: ":"), colon != word.text.startIndex else {
      // A file of headers, or one that only a shell knows the name of.
      if word.isOpen || word.text.hasPrefix("@") { draft.request.mayHaveMore = true }
      return
    }
    let value = word.text[word.text.index(after: colon)...].drop { $0 == " " }
    draft.request.headers.append(.init(String(word.text[..<colon]), word.isOpen ? nil : String(value)))
  }

  private mutating func data(_ word: ShellCommand.Word, isRaw: Bool, separator: [UInt8] = [UInt8(ascii: "&")]) {
    let before = draft.body
    let isFirst = !draft.hasData
    draft.hasData = true
    if !isRaw, word.text.hasPrefix("@") {
      body(word.suffix(from: word.text.index(after: word.text.startIndex)))
    } else if word.text.isEmpty, let source = word.source {
      draft.body = input.output(of: source)
      draft.isUnknown = draft.isUnknown || draft.body == nil
    } else {
      draft.body = CurlBody(word)
    }
    // As curl does: what is given in several parts is joined.
    guard !isFirst, let part = draft.body else { return }
    draft.body = before?.joined(with: part, by: separator)
  }

  /// The body that stands in a file, or comes from standard input.
  private mutating func body(_ file: ShellCommand.Word) {
    draft.hasData = true
    draft.body = file.isOpen ? nil : file.text == "-" ? input.body : read(file.text).map { CurlBody($0) }
    guard draft.body == nil else { return }
    if file.isOpen || file.text == "-" { draft.isUnknown = true } else { draft.unreadFile = file.text }
  }

  // MARK: What came of it

  /// The pushes among the requests, and what else they ask of the provider API.
  func pushes(on lines: ClosedRange<Int>) -> [CurlCommand.Push] {
    finished.flatMap { draft -> [CurlCommand.Push] in
      var draft = draft
      // A word that only a shell knows holds options as likely as a URL, where it may be many words.
      let options = draft.urls.filter { $0.mayBeMany && $0.text.isEmpty }
      if draft.urls.count > 1 { draft.urls.removeAll { $0.mayBeMany && $0.text.isEmpty } }
      if !options.isEmpty { draft.request.mayHaveMore = true }
      if draft.isGet {
        (draft.body, draft.isUnknown) = (nil, false)
        draft.request.method = draft.request.method ?? "GET"
      } else if draft.request.method == nil {
        draft.request.method = draft.hasData ? "POST" : draft.request.mayHaveMore ? nil : "GET"
      }
      if !draft.hasData, !draft.request.mayHaveMore, draft.request.method == "POST" { draft.body = CurlBody([]) }
      if draft.body != nil, draft.request.payload == nil { (draft.body, draft.isUnknown) = (nil, true) }
      let urls = draft.urls.isEmpty ? [ShellCommand.Word(gaps: [0])] : draft.urls
      let hasHeader = draft.request.headers.contains { $0.name.hasPrefix("apns-") }
      return urls.prefix(Limits.lintedURLs).compactMap { url in
        var request = draft.request
        request.path = url.isOpen ? nil : Self.path(of: url.text)
        request.service = LintedRequest.Service(path: request.path.map { String($0.prefix { !"?#".contains($0) }) } ?? url.text)
        (request.scheme, request.host) = Self.server(of: url)
        guard Self.isPush(request, url, hasHeader: hasHeader) else { return nil }
        return CurlCommand.Push(request: request, lines: lines, unreadFile: draft.unreadFile, hasUnknownPayload: draft.isUnknown)
      }
    }
  }

  private static func path(of url: String) -> String {
    var rest = url[...]
    if let scheme = rest.indices.first(where: { rest[$0...].hasPrefix("://") }) { rest = rest[scheme...].dropFirst(3) }
    return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? "/"
  }

  /// The scheme and the host of a URL, each as far as it is written.
  private static func server(of url: ShellCommand.Word) -> (scheme: String?, host: String?) {
    let text = url.text
    var start = text.startIndex
    var scheme: String?
    if let mark = text.firstRange(of: "://") {
      guard url.gaps.allSatisfy({ $0 >= text.utf8.distance(from: start, to: mark.upperBound) }) else { return (nil, nil) }
      scheme = text[..<mark.lowerBound].lowercased()
      start = mark.upperBound
    }
    let end = text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex
    let authority = text[start..<end]
    let bytes = text.utf8.distance(from: text.startIndex, to: start)...text.utf8.distance(from: text.startIndex, to: end)
    guard !url.gaps.contains(where: bytes.contains) else { return (scheme, nil) }
    let host = authority[(authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex)...]
    // An IPv6 address keeps its brackets.
    let port = host.last == "]" ? nil : host.lastIndex(of: ":")
    return (scheme, (port.map { host[..<$0] } ?? host).lowercased())
  }

  /// Whether a request is meant for the provider API: by its path, or by its headers where that is misspelt or not known.
  private static func isPush(_ request: LintedRequest, _ url: ShellCommand.Word, hasHeader: Bool) -> Bool {
    let path = request.path ?? url.text
    if request.service != .devices || path.contains("/3/device") || hasHeader { return true }
    guard url.isOpen, url.text.isEmpty, let payload = request.payload else { return false }
    return (try? JSONValue.payload(payload.bytes))?["aps"] != nil
  }
}
