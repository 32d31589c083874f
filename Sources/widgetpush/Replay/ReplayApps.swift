import Gateway
import HTTPClient
import JSON
import Push

/// The settings of a server's apps while a recording is played there, and what they were before.
struct ReplayApps {
  private let control: ControlClient
  private let profile: BudgetProfile
  /// What was set at run time for each app before.
  private var before: [String: JSONObject] = [:]
  /// What holds now of those that were changed.
  private var now: [String: JSONObject] = [:]

  /// The apps of `control`'s gateway, to be given `profile`.
  init(_ control: ControlClient, _ profile: BudgetProfile) {
    self.control = control
    self.profile = profile
  }

  /// Gives an app the profile, above what was recorded of its settings.
  mutating func apply(_ bundleID: String, recorded: JSONObject = [:]) throws {
    var base = before[bundleID]
    var isKnown = true
    if base == nil {
      let view = try control.call("GET", path(bundleID))
      guard view.isSuccess || view.status == 404 else { throw CommandError(view) }
      isKnown = view.isSuccess
      base = view.isSuccess ? BudgetProfile.settingsMade(in: view.json) : [:]
    }
    let wanted = profile.applied(to: base ?? [:], recorded: recorded)
    guard wanted != now[bundleID] ?? base ?? [:] || !isKnown else { return }
    let answer = try control.call("PUT", path(bundleID), .object(wanted))
    guard answer.isSuccess else {
      let unknown = isKnown ? "" : ", which the server does not know yet"
      throw CommandError("the settings of \(bundleID)\(unknown), for the replay: \(CommandError(answer))")
    }
    before[bundleID] = base
    now[bundleID] = wanted
  }

  /// Gives every app back what was set before; returns what could not be put back.
  func restore() -> [String] {
    before.sorted { $0.key < $1.key }.compactMap { bundleID, base in
      do throws(CommandError) {
        let answer = try base.isEmpty ? control.call("DELETE", path(bundleID)) : control.call("PUT", path(bundleID), .object(base))
        return answer.isSuccess || answer.status == 404 ? nil : "the settings of \(bundleID): \(CommandError(answer))"
      } catch {
        return "the settings of \(bundleID): \(error)"
      }
    }
  }

  private func path(_ bundleID: String) -> String { "/v1/apps/\(BlockingHTTPClient.percentEncoded(bundleID))" }
}
