import Push

/// Along which registrations one list of a selector leads, and which list comes next.
struct ReloadWalk {
  /// What all registrations of the list have in common.
  enum Along: Hashable {
    case all
    case user(String)
    case device(String)
  }

  /// The list.
  let along: Along
  /// The beginning of the next list; nil when this is the last.
  let next: ReloadPosition?

  /// The list at a position; nil behind the last.
  init?(_ selector: ReloadSelector, _ position: ReloadPosition) {
    let byUser = !selector.users.isEmpty
    let names = byUser ? selector.users : selector.devices
    if names.isEmpty {
      guard position.list == 0 else { return nil }
      along = .all
    } else {
      guard names.indices.contains(position.list) else { return nil }
      along = byUser ? .user(names[position.list]) : .device(names[position.list])
    }
    next = position.list + 1 < names.count ? ReloadPosition(list: position.list + 1, after: nil) : nil
  }

  /// Whether the list has a registration.
  func isAlong(_ registration: Registration) -> Bool {
    switch along {
    case .all: true
    case .user(let name): registration.user == name
    case .device(let name): registration.device == name
    }
  }
}
