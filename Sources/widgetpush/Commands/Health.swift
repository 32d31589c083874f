import HTTPClient
import JSON
import Primitives

extension Command {
  /// `widgetpush health`.
  static let health = Command(
    "health", "tells whether the gateway is ready",
    discussion: """
      Asks /readyz and ends with 0 when the answer is 200, else with 1 and the obstacles on standard error: made for
      health checks of containers. What goes wrong although it is ready is a warning on standard error.
      """,
    options: [
      Option(switch: "--device", "ask the mock device instead"),
      Option("--url", "URL", "ask the server at this URL, such as https://127.0.0.1:8443"), .json, .stateFolder,
    ],
    examples: ["widgetpush health", "widgetpush health --device --state-dir /state"]
  ) { arguments in
    let folder = StateFolder(arguments)
    let server = arguments.has("--device") ? "the mock device" : "the gateway"
    let url: String
    if let given = arguments.value("--url") {
      url = given
    } else {
      let credentials = try folder.credentials()
      guard let known = arguments.has("--device") ? credentials.device : credentials.control else {
        throw CommandError("\(server) does not run with the state folder \(folder.path)")
      }
      url = known
    }
    let authority = folder.file("ca.pem")
    let client = BlockingHTTPClient(trust: Files.exists(authority) ? .file(authority) : .system, bounds: .init(total: .seconds(5)))
    let response: BlockingHTTPClient.Response
    do throws(BlockingHTTPClient.Failure) {
      response = try client.perform(.init("GET", url + "/readyz"))
    } catch {
      throw CommandError(error, server)
    }
    let isReady = response.status == 200
    let warnings = (try? JSONValue.parse(response.body))?["warnings"]?.arrayValue?.compactMap(\.stringValue) ?? []
    for warning in warnings { Console.complain("\(server) warns: \(warning)") }
    if arguments.wantsJSON {
      Console.print(((try? JSONValue.parse(response.body)) ?? ["ready": .bool(isReady)]).serialized())
    } else if isReady {
      Console.print("ready")
    }
    guard isReady else {
      let obstacles = (try? JSONValue.parse(response.body))?["obstacles"]?.arrayValue?.compactMap(\.stringValue) ?? []
      let reason = obstacles.isEmpty ? "it answered \(response.status)" : obstacles.joined(separator: " ")
      Console.complain("\(server) is not ready: \(reason)")
      return 1
    }
    return 0
  }
}
