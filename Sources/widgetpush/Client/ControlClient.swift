import HTTPClient
import JSON
import Primitives
import Push

/// The control API of the gateway that a state folder names, called with that folder's access tokens.
struct ControlClient {
  /// An answer with its body as JSON, `null` where there is none.
  struct Answer {
    let status: Int
    let json: JSONValue

    /// Whether the status is one of success.
    var isSuccess: Bool { (200..<300).contains(status) }

    /// The body of an answer of success; absent for any other, which is not the same as JSON's `null`.
    var success: JSONValue? {
      guard isSuccess else { return .none }
      return .some(json)
    }
  }

  let credentials: Credentials
  private let isForPeople: Bool
  private let base: String
  private let server: String
  private let client: BlockingHTTPClient

  /// A client of the gateway of `folder`; throws how to start one where none was.
  ///
  /// - Parameter isForPeople: Whether bodies are made printable as they come in, since apps and devices choose some of what is in them;
  ///   what becomes JSON again is left as it is.
  init(_ folder: StateFolder, isForPeople: Bool = true) throws(CommandError) {
    try self.init("gateway", at: \.control, of: folder, isForPeople)
  }

  /// The same for a command that prints for people, unless JSON is asked for.
  init(_ arguments: Arguments) throws(CommandError) { try self.init(StateFolder(arguments), isForPeople: !arguments.wantsJSON) }

  /// A client of the mock device of `folder`; throws how to start one where none was.
  init(deviceOf folder: StateFolder, isForPeople: Bool) throws(CommandError) {
    try self.init("mock device", command: "device", at: \.device, of: folder, isForPeople)
  }

  private init(
    _ name: String, command: String = "gateway", at address: KeyPath<Credentials, String?>, of folder: StateFolder, _ isForPeople: Bool
  ) throws(CommandError) {
    self.isForPeople = isForPeople
    credentials = try folder.credentials()
    guard let address = credentials[keyPath: address] else {
      throw CommandError(
        "no \(name) runs with the state folder \(folder.path); start one with `widgetpush dev` or `widgetpush \(command)`")
    }
    base = address
    server = "the \(name)"
    client = BlockingHTTPClient(trust: .file(folder.file("ca.pem")), bounds: .init(total: .seconds(10)))
  }

  /// Calls `path`, which begins with a slash; the answer may have any status.
  func call(
    _ method: String, _ path: String, _ body: JSONValue? = nil, as secret: String? = nil, fields: [(String, String)] = [],
    timeout: TimeSpan? = nil
  ) throws(CommandError) -> Answer {
    var request = BlockingHTTPClient.Request(method, base + path, timeout: timeout)
    request.fields = [.init("authorization", "Bearer \(secret ?? credentials.admin)")] + fields.map { .init($0.0, $0.1) }
    if let body {
      request.fields.append(.init("content-type", "application/json"))
      request.body = Array(body.serialized().utf8)
    }
    let response: BlockingHTTPClient.Response
    do throws(BlockingHTTPClient.Failure) {
      response = try client.perform(request)
    } catch {
      throw CommandError(error, server)
    }
    if response.body.isEmpty { return Answer(status: response.status, json: .null) }
    do throws(JSONError) {
      // What a call took as deep as it may be stands deeper in lists and views.
      let json = try JSONValue.parse(wrapped: response.body, levels: 3)
      return Answer(status: response.status, json: isForPeople ? json.printable : json)
    } catch {
      throw CommandError("\(base)\(path) answered \(response.status) with something that is not JSON: \(error)")
    }
  }

  /// Posts bytes to `path` and returns the text of an answer of success; throws what the server says otherwise.
  func post(_ path: String, _ body: [UInt8], type: String) throws(CommandError) -> String {
    var request = BlockingHTTPClient.Request("POST", base + path, timeout: .seconds(60))
    request.fields = [.init("authorization", "Bearer \(credentials.admin)"), .init("content-type", type)]
    request.body = body
    let response: BlockingHTTPClient.Response
    do throws(BlockingHTTPClient.Failure) { response = try client.perform(request) } catch { throw CommandError(error, server) }
    let text = String(decoding: response.body, as: UTF8.self)
    guard (200..<300).contains(response.status) else {
      throw CommandError(Answer(status: response.status, json: (try? JSONValue.parse(text)) ?? .string(text)))
    }
    return text
  }

  /// Reads the stream at `path`, one of events from the event `id` on where it is given, until it ends or `reader` wants no more; throws
  /// what the server says otherwise.
  func follow(_ path: String, after id: String? = nil, reader: @Sendable ([UInt8]) -> Bool) throws(CommandError) {
    var request = BlockingHTTPClient.Request("GET", base + path)
    request.fields = [.init("authorization", "Bearer \(credentials.admin)")]
    if let id { request.fields.append(.init("last-event-id", id)) }
    let silence = TimeSpan.milliseconds(3 * Limits.eventHeartbeatMilliseconds)
    let response: BlockingHTTPClient.Response
    do throws(BlockingHTTPClient.Failure) {
      response = try client.stream(request, silence: silence, reader: reader)
    } catch {
      var thrown = CommandError(error, "the gateway")
      thrown.isPassing = ![.untrusted, .badTrust, .badRequest].contains(error.kind)
      throw thrown
    }
    guard !(200..<300).contains(response.status) else { return }
    var thrown = CommandError(Answer(status: response.status, json: (try? JSONValue.parse(response.body)) ?? .string(response.text)))
    thrown.isPassing = response.status >= 500
    throw thrown
  }

  /// Calls `path` and returns the body of an answer of success; throws what the server says otherwise.
  func get(_ path: String, timeout: TimeSpan? = nil) throws(CommandError) -> JSONValue {
    let answer = try call("GET", path, timeout: timeout)
    guard answer.isSuccess else { throw CommandError(answer) }
    return answer.json
  }
}

extension CommandError {
  /// What the control API says about a call that it did not carry out.
  init(_ answer: ControlClient.Answer) {
    let error = answer.json["error"]
    let message = error?["message"]?.stringValue ?? answer.json.serialized()
    self.init("the gateway answered \(answer.status): \(message.escapingSteering())")
  }

  /// A server that did not answer; most often it does not run.
  init(_ failure: BlockingHTTPClient.Failure, _ server: String) {
    switch failure.kind {
    case .connectionRefused: self.init("\(failure); \(server) does not run, start it with `widgetpush dev`")
    default: self.init(failure.message)
    }
  }
}
