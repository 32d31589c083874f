import Control
import JSON
import Primitives
import Push
import Storage

extension ControlAPI {
  /// `POST /v1/registrations`: many at once.
  var importRoutes: [Route] { [Route(.post, "/v1/registrations", .scope(.register), importAll)] }

  /// Registers what each line of the body describes. The answer has a line for each that was refused, and at the end the counts; what
  /// was refused keeps nothing else from being registered.
  @Sendable private func importAll(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let lines = routed.request.body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.count <= Limits.importRows + 1 else {
      throw .badRequest(
        "the body has \(lines.count) lines, and \(Limits.importRows) are taken at a time; send the rest in further calls, as widgetpush import does"
      )
    }
    var rows: [(line: Int, registration: Registration)] = []
    var refused: [(line: Int, error: ControlError)] = []
    for (index, line) in lines.enumerated() where !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
      do throws(ControlError) {
        rows.append((index + 1, try row(Array(line), routed.grant)))
      } catch {
        refused.append((index + 1, error))
      }
    }
    var counts = (created: 0, replaced: 0)
    // In slices, so that pushes are settled in between.
    for start in stride(from: 0, to: rows.count, by: Limits.importSlice) {
      let slice = rows[start..<min(start + Limits.importSlice, rows.count)]
      let results = try await registered(slice.map(\.registration), routed.grant)
      for (row, result) in zip(slice, results) {
        if result == .created || result == .replaced { parts.recordings.registered(row.registration, replacing: nil, at: now) }
        switch result {
        case .created: counts.created += 1
        case .replaced: counts.replaced += 1
        case .foreign: refused.append((row.line, foreignToken(routed.grant)))
        case .full: refused.append((row.line, ControlError(.full(registrations: Limits.registrations))))
        case .shareUsedUp(let refusal): refused.append((row.line, ControlError(.shareUsedUp(refusal))))
        }
      }
    }
    let summary: JSONValue = [
      "created": .integer(Int64(counts.created)), "replaced": .integer(Int64(counts.replaced)), "refused": .integer(Int64(refused.count)),
    ]
    let answers = refused.sorted { $0.line < $1.line }.map { line, error -> JSONValue in
      ["line": .integer(Int64(line)), "error": error.json["error"] ?? .null]
    }
    return .text((answers + [summary]).map { $0.serialized() + "\n" }.joined(), type: "application/x-ndjson")
  }

  private func registered(_ registrations: [Registration], _ grant: Grant) async throws(ControlError) -> [BulkRegistration] {
    try await asking { () async throws(StoreError) in
      try await parts.store.register(all: registrations, isShared: grant.bundleIDs != nil) { grant.sees($0.bundleID) }
    }
  }

  private func row(_ line: [UInt8], _ grant: Grant) throws(ControlError) -> Registration {
    do {
      var reader = try JSONReader(try JSONValue.parse(line))
      let text = try reader.string("token")
      guard let token = DeviceToken(hex: text) else {
        let hint = DeviceToken.complaint(aboutPrinted: text).map { "; \($0)" } ?? ""
        throw reader.error("token", "must be a push token in hexadecimal digits, not \"\(text.prefix(64))\"\(hint)")
      }
      let registration = try RegistrationBody.read(&reader, token: token)
      try reader.finish()
      try check(registration, grant)
      return registration
    } catch let error as FieldError {
      throw ControlError(error)
    } catch let error as ControlError {
      throw error
    } catch {
      throw .badRequest("the line must be a JSON object: \(error)")
    }
  }

  /// The error for a token that the caller must not take from its app.
  func foreignToken(_ grant: Grant) -> ControlError {
    .conflict("this token is registered for another app, which the access token \"\(grant.name)\" does not see")
  }
}
