/// What an access token permits.
public enum AccessScope: String, CaseIterable, Sendable {
  /// Writing registrations and reporting outcomes; reads nothing.
  case register
  /// Reading registrations, pushes, budgets and metrics.
  case read
  /// Asking for reloads.
  case reload
  /// Everything, the other scopes included.
  case admin
}

/// What a route asks of whoever calls it.
public enum RouteAccess: Hashable, Sendable {
  /// Nothing.
  case open
  /// An access token with this scope, or `admin`.
  case scope(AccessScope)
  /// No access token, but the plain port, a client on this machine, and a `Host` that names it: a page that a browser
  /// was lured to under another name (DNS rebinding) gets nothing.
  case localhost
  /// All that `localhost` asks, and an access token with this scope for all apps: another user of this machine gets nothing either.
  case localScope(AccessScope)

  /// Whether an access token with that scope is asked for.
  func asks(for scope: AccessScope) -> Bool { self == .scope(scope) || self == .localScope(scope) }
}
