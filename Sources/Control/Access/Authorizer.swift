public import Primitives
import Reactor
import Synchronization

/// Decides whether a request may use a route. Safe to use from any thread.
public final class Authorizer: Sendable {
  private let tokens: Mutex<AccessTokens>
  private let further: (@Sendable () -> AccessTokens)?

  /// An authorizer that knows these tokens, and those that `further` has at the time of a request.
  public init(_ tokens: AccessTokens, further: (@Sendable () -> AccessTokens)? = nil) {
    self.tokens = Mutex(tokens)
    self.further = further
  }

  /// Forgets the tokens it knew and knows these, as after a reload of the configuration.
  public func replace(_ tokens: AccessTokens) { self.tokens.withLock { $0 = tokens } }

  /// What the request may do on a route with that access; throws 401 or 403 with the reason.
  public func grant(_ request: HTTPRequest, for access: RouteAccess, now: Instant) throws(ControlError) -> Grant {
    switch access {
    case .open: return .none
    case .localhost:
      try requireLocal(request)
      return .none
    case .localScope(let scope):
      try requireLocal(request)
      let grant = try grant(request, with: scope, now: now)
      guard grant.bundleIDs == nil else {
        throw .forbidden("the access token \"\(grant.name)\" is limited to some apps, and this is of all; use one without a limit")
      }
      return grant
    case .scope(let scope): return try grant(request, with: scope, now: now)
    }
  }

  private func grant(_ request: HTTPRequest, with scope: AccessScope, now: Instant) throws(ControlError) -> Grant {
    if let origin = request.foreignOrigin {
      throw .forbidden(
        "a page of \"\(origin.prefix(128))\" asks, and only pages of this server may; a program that is no browser leaves Origin out",
        field: "origin")
    }
    let token = try token(request, now: now)
    let grant = Grant(name: token.name, scopes: token.scopes, bundleIDs: token.bundleIDs)
    guard grant.permits(scope) else {
      throw .forbidden(
        "the access token \"\(token.name)\" lacks the scope \"\(scope.rawValue)\"; it has \(Self.listed(token.scopes))")
    }
    return grant
  }

  private func requireLocal(_ request: HTTPRequest) throws(ControlError) {
    guard request.face == .plain, request.peer?.isLoopback == true, request.namesThisMachine else {
      throw .forbidden("this is served on the plain loopback port only, to requests whose Host is localhost, 127.0.0.1 or [::1]")
    }
  }

  /// Why the request may no longer do what `grant` has permitted; nil while it may.
  func problem(_ request: HTTPRequest, for access: RouteAccess, since grant: Grant, now: Instant) -> ControlError? {
    do throws(ControlError) {
      let present = try self.grant(request, for: access, now: now)
      return present == grant ? nil : .unauthorized("the access token \"\(grant.name)\" was changed meanwhile; ask anew")
    } catch {
      return error
    }
  }

  /// The name of the access token that the request shows; empty when it shows none that is good.
  func name(of request: HTTPRequest, now: Instant) -> String { (try? token(request, now: now))?.name ?? "" }

  private func token(_ request: HTTPRequest, now: Instant) throws(ControlError) -> AccessToken {
    let values = request.fields.all("authorization")
    guard let value = values.first else {
      throw .unauthorized("an access token is missing; send it as Authorization: Bearer TOKEN")
    }
    guard values.count == 1, let secret = Self.bearer(value) else {
      throw .unauthorized("the authorization field must be one line of the form Authorization: Bearer TOKEN")
    }
    guard let token = tokens.withLock({ $0 }).token(secret: secret) ?? further?().token(secret: secret) else {
      throw .unauthorized("the access token is not known here; look for a copy that was cut short, or for one of another server")
    }
    if let expires = token.expires, now >= expires {
      throw .unauthorized("the access token \"\(token.name)\" expired at \(expires)")
    }
    return token
  }

  private static func bearer(_ value: String) -> String? {
    let parts = value.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1])
  }

  private static func listed(_ scopes: Set<AccessScope>) -> String {
    scopes.isEmpty ? "none" : scopes.map { "\"\($0.rawValue)\"" }.sorted().joined(separator: ", ")
  }
}
