import Control
import JSON
import Primitives
import Push
import Storage

extension ControlAPI {
  /// `/v1/budgets`.
  var budgetRoutes: [Route] {
    [
      Route(.get, "/v1/budgets/{token}", .scope(.read), budgets),
      Route(.put, "/v1/budgets/{token}", .scope(.admin), setBudgets),
      Route(.delete, "/v1/budgets/{token}", .scope(.admin), resetBudgets),
    ]
  }

  @Sendable private func budgets(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let token = try token(routed)
    _ = try await visibleRegistration(token, routed.grant)
    return .json(try await view(token))
  }

  /// Sets what is left of all budgets of a token, or of the one at `index`.
  @Sendable private func setBudgets(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let token = try token(routed)
    let reports = try await reports(token, routed.grant)
    let (credits, index) = try routed.request.readJSON { reader throws(FieldError) in
      let index = try reader.optionalInteger("index", in: 0...Int64(reports.count - 1)).map { Int($0) }
      // What all that are meant can hold, from all spent to full.
      let meant = index.map { [reports[$0]] } ?? reports
      let most = meant.map(\.burst).min() ?? 0
      let least = -(meant.map(\.allowance).min() ?? 0)
      return (Int(try reader.integer("remaining", in: Int64(least)...Int64(most))), index)
    }
    _ = try await asking { () async throws(StoreError) in
      try await parts.store.setBudget(token, index: index, credits: credits) { routed.grant.sees($0) }
    }
    return .json(try await view(token))
  }

  @Sendable private func resetBudgets(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let token = try token(routed)
    _ = try await reports(token, routed.grant)
    _ = try await asking { () async throws(StoreError) in try await parts.store.resetBudget(token) { routed.grant.sees($0) } }
    return .noContent
  }

  /// The budgets of a token that the caller sees and that has some.
  private func reports(_ token: DeviceToken, _ grant: Grant) async throws(ControlError) -> [BudgetReport] {
    let record = try await visibleRegistration(token, grant)
    let reports = try await asking { () async throws(StoreError) in try await parts.store.budgets(token) } ?? []
    guard !reports.isEmpty else {
      throw .conflict(
        "a token of type \"\(record.registration.kind.name)\" has no budget here; those that have one are widgets, controls, liveactivity, pushToStart and app"
      )
    }
    return reports
  }

  private func view(_ token: DeviceToken) async throws(ControlError) -> JSONValue {
    let reports = try await asking { () async throws(StoreError) in try await parts.store.budgets(token) } ?? []
    // Rounded like the instants that it is compared with.
    return [
      "token": .string(token.hex), "now": parts.clock.clock.moment.now.dueJSON,
      "budgets": .array(reports.enumerated().map { $1.json(index: $0) }),
    ]
  }
}
