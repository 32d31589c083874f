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
}
