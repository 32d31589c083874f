import JSON
import Primitives
import Security
import Testing

@testable import widgetpush

/// `provider-token.json` of a state folder.
@Suite("The saved provider token") struct SavedProviderTokenTests {
  private let start = Instant(unixSeconds: 1_800_000_000)
  private let folder: TemporaryFolder
  private let key: P256PrivateKey

  init() throws {
    folder = try TemporaryFolder()
    key = try P256PrivateKey.generate()
  }

  private func token(_ seconds: Int64, key: P256PrivateKey? = nil, team: String = "TEAM123456") throws -> (text: String, issued: Instant) {
    let key = key ?? self.key
    return try SavedProviderToken.token(
      in: StateFolder(folder.path), teamID: team, keyID: "KEYID12345", pem: key.pem(), key: key, now: start + .seconds(seconds))
  }

  @Test func oneServesForTwentyMinutes() throws {
    let first = try token(0)
    #expect(Files.mode(StateFolder(folder.path).file(SavedProviderToken.name)) == 0o600)
    for seconds: Int64 in [1, 600, 1199] { #expect(try token(seconds) == first) }
    let second = try token(1200)
    #expect(second.text != first.text && second.issued == start + .seconds(1200))
    #expect(try token(1201) == second)
    // A clock that was set back makes the saved one a token of the future.
    #expect(try token(0).text != second.text)
  }

  @Test func anotherKeyOrTeamHasAnother() throws {
    let first = try token(0)
    #expect(try token(1, key: P256PrivateKey.generate()).text != first.text)
    #expect(try token(2, team: "OTHER12345").text != first.text)
  }

  @Test(arguments: ["", "{", "[]", #"{"key":1}"#]) func aDamagedFileIsWrittenOver(_ text: String) throws {
    try Files.write(text, to: StateFolder(folder.path).file(SavedProviderToken.name), mode: 0o600)
    let first = try token(0)
    #expect(try token(1) == first)
  }
}
