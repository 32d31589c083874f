public import Push
import Storage

extension Gateway {
  /// What an app on the device of that name is registered with, dead tokens left out; none while the store does not answer.
  public func appRegistrations(of bundleID: String, onDevice name: String) async -> [Registration] {
    let query = RegistrationQuery(bundleID: bundleID, device: name, kind: .app)
    let records = (try? await store.registrations(query)) ?? []
    return records.filter { $0.retiredSince == nil }.map(\.registration)
  }
}
