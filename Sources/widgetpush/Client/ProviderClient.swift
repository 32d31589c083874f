import HTTPClient
import JSON
import Primitives
import Security

/// A backend, as far as a gateway can tell: sends pushes to the provider API with a provider token of its own.
struct ProviderClient {
  /// A push to be sent.
  struct Push {
    var token: String
    var type: String?
    var topic: String?
    var priority: String?
    var expiration: String?
    var id: String?
    var collapseID: String?
    var payload: [UInt8]
  }

  /// What the gateway answered.
  struct Answer {
    let status: Int
    let id: String?
    let reason: String?
    let detail: String?
  }

  private let base: String
  private let authorization: String
  private let client: BlockingHTTPClient

  /// A backend that signs with the provider key of `folder`.
  ///
  /// - Parameter isFresh: Whether it signs another provider token, whatever other commands sign theirs with.
  init(_ folder: StateFolder, now: Instant, isFresh: Bool = false) throws {
    let credentials = try folder.credentials()
    guard let provider = credentials.provider else {
      throw CommandError(
        "no gateway runs with the state folder \(folder.path); start one with `widgetpush dev` or `widgetpush gateway`")
    }
    base = provider
    let pem = try Files.read(credentials.keyFile)
    let key = try describing(credentials.keyFile) { () throws(CryptoError) in try P256PrivateKey(pem: pem) }
    let token =
      if isFresh {
        try ProviderTokenSigner(teamID: credentials.teamID, keyID: credentials.keyID, key: key).token(now: now)
      } else {
        try SavedProviderToken.token(
          in: folder, teamID: credentials.teamID, keyID: credentials.keyID, pem: pem, key: key, now: now
        ).text
      }
    authorization = "bearer " + token
    client = BlockingHTTPClient(trust: .file(folder.file("ca.pem")))
  }

  /// Sends one push; an answer with an error is an answer.
  ///
  /// - Parameter timeout: How long it waits for the answer; nil for as long as any request.
  func send(_ push: Push, timeout: TimeSpan? = nil) throws(CommandError) -> Answer {
    var fields: [BlockingHTTPClient.Field] = []
    for (name, value) in [
      ("apns-push-type", push.type), ("apns-topic", push.topic), ("apns-priority", push.priority),
      ("apns-expiration", push.expiration), ("apns-id", push.id), ("apns-collapse-id", push.collapseID),
    ] {
      if let value { fields.append(.init(name, value)) }
    }
    return try send("POST", "/3/device/\(BlockingHTTPClient.percentEncoded(push.token))", fields, push.payload, timeout: timeout)
  }

  /// Sends a request with these fields, which have no authorization yet.
  func send(
    _ method: String, _ path: String, _ fields: [BlockingHTTPClient.Field], _ payload: [UInt8], timeout: TimeSpan? = nil
  ) throws(CommandError) -> Answer {
    var request = BlockingHTTPClient.Request(method, base + path)
    request.fields = [.init("authorization", authorization)] + fields
    request.body = payload
    request.timeout = timeout
    do throws(BlockingHTTPClient.Failure) {
      let response = try client.perform(request)
      let body = try? JSONValue.parse(response.body)
      return Answer(
        status: response.status, id: response.field("apns-id"), reason: body?["reason"]?.stringValue, detail: body?["detail"]?.stringValue)
    } catch {
      throw CommandError(error, "the gateway")
    }
  }
}
