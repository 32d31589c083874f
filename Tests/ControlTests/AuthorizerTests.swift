import Control
import JSON
import Primitives
import Reactor
import Testing

@Suite("Access") struct AuthorizerTests {
  private static let now = Instant(unixSeconds: 1_000_000)
  private static let subsets: [Set<AccessScope>] = (0..<16).map { mask in
    Set(AccessScope.allCases.enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element))
  }

  private func request(_ authorization: [String], face: HTTPRequest.Face = .tls, host: String? = nil, peer: SocketAddress? = nil) throws
    -> HTTPRequest
  {
    var fields = HTTPFields()
    for value in authorization { fields.append("Authorization", value) }
    return try HTTPRequest(method: .get, target: "/", fields: fields, authority: host, peer: peer, face: face)
  }

  private func outcome(_ authorizer: Authorizer, _ request: HTTPRequest, _ access: RouteAccess, now: Instant = now) -> Result<
    Grant, ControlError
  > {
    do throws(ControlError) {
      return .success(try authorizer.grant(request, for: access, now: now))
    } catch {
      return .failure(error)
    }
  }

  /// Every set of scopes against every scope that a route may ask for.
  @Test(arguments: subsets, AccessScope.allCases) func scopes(held: Set<AccessScope>, asked: AccessScope) throws {
    let authorizer = Authorizer(AccessTokens([AccessToken(name: "t", scopes: held, secret: "s3cret")]))
    let outcome = outcome(authorizer, try request(["Bearer s3cret"]), .scope(asked))
    if held.contains(asked) || held.contains(.admin) {
      #expect(try outcome.get().scopes == held)
    } else {
      guard case .failure(let error) = outcome else { Issue.record("\(held) passed for \(asked)"); return }
      #expect(error.status == 403)
      #expect(error.message.contains("\"t\"") && error.message.contains("\"\(asked.rawValue)\""))
      #expect(!error.message.contains("s3cret"))
    }
  }

  @Test(arguments: [
    [], ["s3cret"], ["Basic s3cret"], ["Bearer"], ["Bearer "], ["Bearer s3cret x"], ["Bearer wrong"], ["Bearer s3cre"], ["Bearer S3CRET"],
    ["Bearer s3cret", "Bearer s3cret"],
  ])
  func noValidToken(authorization: [String]) throws {
    let authorizer = Authorizer(AccessTokens([AccessToken(name: "t", scopes: [.admin], secret: "s3cret")]))
    guard case .failure(let error) = outcome(authorizer, try request(authorization), .scope(.read)) else {
      Issue.record("\(authorization) passed")
      return
    }
    #expect(error.status == 401)
    #expect(error.fields["www-authenticate"]?.hasPrefix("Bearer") == true)
    #expect(!error.message.contains("s3cre"))
  }

  @Test(arguments: ["Bearer s3cret", "bearer s3cret", "BEARER  s3cret"]) func spellingsOfBearer(value: String) throws {
    let authorizer = Authorizer(AccessTokens([AccessToken(name: "t", scopes: [.admin], secret: "s3cret")]))
    #expect(try outcome(authorizer, try request([value]), .scope(.read)).get().name == "t")
  }

  @Test func expiry() throws {
    let token = AccessToken(name: "t", scopes: [.read], expires: Self.now, secret: "a")
    let authorizer = Authorizer(AccessTokens([token]))
    let request = try request(["Bearer a"])
    #expect(throws: Never.self) { try outcome(authorizer, request, .scope(.read), now: Self.now - .milliseconds(1)).get() }
    guard case .failure(let error) = outcome(authorizer, request, .scope(.read)) else { Issue.record("passed"); return }
    #expect(error.status == 401 && error.message.contains("expired at 1970-01-12T13:46:40.000Z"))
  }

  @Test func bundleIDs() throws {
    let tokens = [
      AccessToken(name: "one", scopes: [.read], bundleIDs: ["com.example.a"], secret: "one"),
      AccessToken(name: "all", scopes: [.read], secret: "all"),
    ]
    let authorizer = Authorizer(AccessTokens(tokens))
    let one = try outcome(authorizer, try request(["Bearer one"]), .scope(.read)).get()
    #expect(one.sees("com.example.a") && !one.sees("com.example.b") && !one.sees("com.example.a.b"))
    #expect(try outcome(authorizer, try request(["Bearer all"]), .scope(.read)).get().sees("com.example.b"))
    #expect(!Grant.none.sees("com.example.a"))
  }

  @Test func replacedTokensAreForgotten() throws {
    let authorizer = Authorizer(AccessTokens([AccessToken(name: "old", scopes: [.read], secret: "old")]))
    authorizer.replace(AccessTokens([AccessToken(name: "new", scopes: [.read], secret: "new")]))
    #expect(throws: ControlError.self) { try outcome(authorizer, try request(["Bearer old"]), .scope(.read)).get() }
    #expect(try outcome(authorizer, try request(["Bearer new"]), .scope(.read)).get().name == "new")
  }

  @Test func openNeedsNothing() throws {
    #expect(try outcome(Authorizer(AccessTokens([])), try request([]), .open).get() == .none)
  }

  /// A page under a foreign name that resolves to this machine gets nothing, whatever the port.
  @Test(
    arguments: [
      ("localhost:8025", true), ("127.0.0.1", true), ("[::1]:8025", true), ("LOCALHOST", true), ("evil.example", false), ("", false),
      (nil, false), ("localhost.evil.example", false), ("127.0.0.1.evil.example", false), ("[::2]", false),
      ("localhost:x@evil.example", false), ("localhost@evil.example", false), ("[::1]evil.example", false), ("[::1", false),
      ("localhost:80:90", false), ("localhost:80/", false),
    ] as [(String?, Bool)])
  func localhost(host: String?, passes: Bool) throws {
    let authorizer = Authorizer(AccessTokens([AccessToken(name: "t", scopes: [.admin], secret: "s")]))
    for face in [HTTPRequest.Face.plain, .tls] {
      for peer in [SocketAddress("127.0.0.1:5000"), SocketAddress("[::1]:5000"), SocketAddress("10.0.0.1:5000"), nil] {
        let outcome = outcome(authorizer, try request(["Bearer s"], face: face, host: host, peer: peer), .localhost)
        let isAllowed = passes && face == .plain && peer?.isLoopback == true
        switch outcome {
        case .success: #expect(isAllowed)
        case .failure(let error): #expect(!isAllowed && error.status == 403)
        }
      }
    }
  }

  /// Only a digest is kept, and a digest of another length is none.
  @Test func secretsAreHashed() {
    let token = AccessToken(name: "t", scopes: [.read], secret: "abc")
    #expect(Hexadecimal.encode(token.digest) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(AccessToken(name: "t", scopes: [], digest: token.digest) == AccessToken(name: "t", scopes: [], secret: "abc"))
    #expect(AccessToken(name: "t", scopes: [], digest: []) == nil)
    #expect(AccessToken.makeSecret() != AccessToken.makeSecret())
    #expect(AccessToken.makeSecret().utf8.count == 43)
  }
}
