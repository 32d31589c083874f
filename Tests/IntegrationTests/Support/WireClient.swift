import Foundation

/// What a hand-made HTTP/2 client saw.
struct Conversation: Sendable {
  let document: Document

  /// The ALPN protocol that was selected, if any.
  var alpn: String? { document["alpn"].string }
  /// `TLSv1.2` or `TLSv1.3`.
  var version: String? { document["version"].string }
  /// Every frame, in order.
  var frames: [Frame] { document["frames"].array.map(Frame.init) }
  /// Every byte, in hexadecimal.
  var bytes: String { document["bytes"].string ?? "" }
  /// Whether the server ended the connection.
  var isClosed: Bool { document["closed"].bool ?? false }
  /// Whether it did so without TLS's close_notify.
  var isAbrupt: Bool { document["abrupt"].bool ?? false }
  /// What went wrong on the socket, if anything.
  var error: String? { document["error"].string }
  /// How many requests a flood sent.
  var sent: Int { document["sent"].int ?? 0 }

  /// The frames of one stream.
  func frames(of stream: Int) -> [Frame] { frames.filter { $0.stream == stream } }
  /// The status that a stream was answered with.
  func status(of stream: Int) -> String? { frames(of: stream).first { $0.type == "HEADERS" }?.fields.first { $0.name == ":status" }?.value }
}

/// One frame that came from the server.
struct Frame: Sendable, CustomStringConvertible {
  let document: Document
  init(_ document: Document) { self.document = document }

  var type: String { document["type"].string ?? "" }
  var stream: Int { document["stream"].int ?? -1 }
  var payload: String { document["hex"].string ?? "" }
  var text: String { document["text"].string ?? "" }
  var endsStream: Bool { (type == "HEADERS" || type == "DATA") && (document["flags"].int ?? 0) & 1 != 0 }
  var fields: [(name: String, value: String)] { document["fields"].array.map { ($0[0].string ?? "", $0[1].string ?? "") } }
  var description: String { document.description }
}

/// One step of a hand-made client.
enum Step {
  /// The connection preface and SETTINGS with these values by id.
  case preface([Int: Int] = [:])
  case headers([(String, String)], stream: Int, end: Bool = false)
  case data(String, stream: Int, end: Bool = true)
  case raw(String)
  case ping(String)
  case reset(stream: Int)
  /// Requests sent without ever reading.
  case flood([(String, String)], data: String, count: Int, seconds: Double)
  /// Reads until so many streams have ended, or so many frames came, or the server closed.
  case receive(ends: Int? = nil, frames: Int? = nil, seconds: Double = 10)
  /// Makes an empty file, so that the test knows how far the client is.
  case mark(String)

  fileprivate var json: [String: Any] {
    switch self {
    case .preface(let settings): ["preface": Dictionary(uniqueKeysWithValues: settings.map { ("\($0)", $1) })]
    case .headers(let fields, let stream, let end): ["headers": fields.map { [$0.0, $0.1] }, "stream": stream, "end": end]
    case .data(let text, let stream, let end): ["data": text, "stream": stream, "end": end]
    case .raw(let text): ["raw": text]
    case .ping(let text): ["ping": text]
    case .reset(let stream): ["reset": stream]
    case .flood(let fields, let data, let count, let seconds):
      ["flood": ["headers": fields.map { [$0.0, $0.1] }, "data": data, "count": count, "seconds": seconds] as [String: Any]]
    case .mark(let path): ["mark": path]
    case .receive(let ends, let frames, let seconds):
      [
        "receive": (["ends": ends, "frames": frames] as [String: Int?]).compactMapValues { $0 as Any? }.merging(["seconds": seconds]) { $1 }
      ]
    }
  }
}

extension Deployment {
  /// Plays a client that says exactly these steps to a face, and returns all that came back.
  ///
  /// - Parameters:
  ///   - alpn: The protocols offered; nil sends no ALPN extension.
  ///   - tls: The only TLS version offered, `1.2` or `1.3`.
  ///   - paper: The client certificate that is shown.
  func converse(
    _ steps: [Step], face: String = "provider", alpn: [String]? = ["h2"], tls: String? = nil, serverName: String = "localhost",
    receiveBuffer: Int? = nil, paper: CertificateOffice.Paper? = nil
  ) async throws -> Conversation {
    var specification: [String: Any] = [
      "port": try port(face), "ca": state.path("ca.pem"), "serverName": serverName, "steps": steps.map(\.json),
    ]
    specification["alpn"] = alpn
    specification["tls"] = tls
    (specification["certificate"], specification["key"]) = (paper?.certificate, paper?.key)
    specification["receiveBuffer"] = receiveBuffer
    let input = try JSONSerialization.data(withJSONObject: specification)
    return Conversation(document: try Document(await output([python, wireScript("client.py")], input: input)))
  }

  /// The fields of a push, as a hand-made client sends them.
  func fields(
    to token: String, topic: String = "com.example.app.push-type.widgets", type: String = "widgets", extra: [(String, String)] = []
  ) async throws -> [(String, String)] {
    [
      (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), (":authority", "localhost"),
      ("authorization", "bearer \(try await ProviderToken.of(self))"), ("apns-topic", topic), ("apns-push-type", type),
    ] + extra
  }
}
