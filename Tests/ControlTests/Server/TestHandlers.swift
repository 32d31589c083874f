import Control
import JSON
import Primitives
import Recorder
import Synchronization

/// Holds tasks until it is opened.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when the gate opens, or when the task is cancelled.
  func pass() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          // Asked once: a cancellation in between would have it resumed twice.
          let goesOn = state.isOpen || Task.isCancelled
          if !goesOn { state.waiting.append(continuation) }
          return goesOn
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      // All of them, which is enough for tests.
      let waiting = state.withLock { state in
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }
}

/// Routes for tests: an echo, something that waits, something large.
final class TestHandlers: Sendable {
  let gate = Gate()
  /// What `/wait` saw: `began`, then `passed` or `cancelled`.
  let events = Recorder<String>()
  static let largeBytes = 3_000_000
  static let pieceBytes = 5000

  func answer(_ request: HTTPRequest) async -> HTTPResponse { await table.respond(to: request) }

  private var table: RouteTable {
    let (gate, events) = (gate, events)
    return RouteTable(
      [
        Route(.get, "/hello", .open) { _ in .text("hello\n") },
        OpenAPIFile.control.route,
        Route(.get, "/about", .open) { routed in
          let request = routed.request
          return .json([
            "method": .string(request.method.text), "path": .string(request.path), "host": .string(request.host ?? ""),
            "face": request.face == .tls ? "tls" : "plain", "x": .string(request.fields["x"] ?? ""),
          ])
        },
        Route(.post, "/echo", .open) { routed in HTTPResponse(status: 200, body: routed.request.body) },
        Route(.post, "/json", .open) { routed throws(ControlError) in
          .json(["n": .integer(try routed.request.readJSON { reader throws(FieldError) in try reader.integer("n", in: 0...9) })])
        },
        Route(.get, "/large", .open) { _ in HTTPResponse(status: 200, body: [UInt8](repeating: 0x6C, count: Self.largeBytes)) },
        Route(.get, "/stream", .open) { [self] routed in
          HTTPResponse(status: 200, stream: stream(routed.request.query.parameters.first?.name ?? ""))
        },
        Route(.get, "/nothing", .open) { _ in .noContent },
        Route(.get, "/private", .localhost) { _ in .text("private\n") },
        Route(.get, "/wait", .open) { _ in
          events.append("began")
          await gate.pass()
          events.append(Task.isCancelled ? "cancelled" : "passed")
          return .text("waited\n")
        },
        Route(.get, "/own", .scope(.read)) { _ in .text("own\n") },
        Route(.get, "/own-wait", .scope(.read)) { _ in
          events.append("began")
          await gate.pass()
          return .text("waited\n")
        },
      ],
      authorizer: Authorizer(AccessTokens([AccessToken(name: "reader", scopes: [.read], secret: "read")])), now: { Instant(unixSeconds: 0) }
    )
  }

  /// A body of as many pieces as the query says, one that ends when it is cancelled, or one without end.
  private func stream(_ query: String) -> BodyStream {
    let (gate, events) = (gate, events)
    return BodyStream { writer in
      if query == "wait" {
        events.append("began")
        await gate.pass()
        events.append(Task.isCancelled ? "cancelled" : "passed")
        _ = await writer.write(Array("end".utf8))
        return
      }
      let piece = [UInt8](repeating: UInt8(ascii: "x"), count: Self.pieceBytes)
      for number in 0..<(Int(query) ?? .max) {
        while true {
          guard !Task.isCancelled else { return events.append("cancelled") }
          let outcome = await writer.write(Array("\(number % 10)".utf8) + piece)
          if outcome == .taken { break }
          if outcome == .gone { return events.append("gone") }
          if query == "endless", events.all.last != "full" { events.append("full") }
          await Task.yield()
        }
      }
      events.append("ended")
    }
  }
}
