import Foundation
import Testing

/// Provider tokens in every form that real clients send (clients.md).
@Suite("Provider tokens", .processes) struct ProviderTokenTests {
  private func status(_ authorization: String) async throws -> Answer {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    return try await dev.send(.widgets(token).with("authorization", authorization))
  }

  @Test(arguments: ProviderToken.Form.allCases) func everyFormIsAccepted(form: ProviderToken.Form) async throws {
    let jwt = try await ProviderToken.make(SharedDev.deployment(), form: form)
    let answer = try await status("bearer \(jwt)")
    #expect(answer.status == 200, "\(answer)")
  }

  @Test(arguments: ["bearer", "Bearer", "BEARER"]) func theSchemeIsReadInAnyCase(scheme: String) async throws {
    let answer = try await status("\(scheme) \(ProviderToken.of(SharedDev.deployment()))")
    #expect(answer.status == 200, "\(answer)")
  }

  @Test(arguments: ["%d", "%d.25", "\"%d\""]) func theTimeMayBeANumberAFractionOrAString(form: String) async throws {
    let dev = try await SharedDev.deployment()
    let team = try dev.credentials()["teamID"].string ?? ""
    let time = form.replacingOccurrences(of: "%d", with: "\(Int(Date().timeIntervalSince1970))")
    let jwt = try await ProviderToken.make(dev, claims: #"{"iss":"\#(team)","iat":\#(time)}"#)
    let answer = try await status("bearer \(jwt)")
    #expect(answer.status == 200, "\(answer)")
  }

  @Test func otherHeaderFieldsAndClaimsAreIgnored() async throws {
    let dev = try await SharedDev.deployment()
    let credentials = try dev.credentials()
    let jwt = try await ProviderToken.make(
      dev, header: #"{"typ":"JWT","kid":"\#(credentials["keyID"].string ?? "")","alg":"ES256"}"#,
      claims: #"{"exp":1,"iat":\#(Int(Date().timeIntervalSince1970)),"iss":"\#(credentials["teamID"].string ?? "")","sub":"x"}"#)
    let answer = try await status("bearer \(jwt)")
    #expect(answer.status == 200, "\(answer)")
  }

  /// Apple, "Sending push notifications using command-line tools", with the files of the state folder alone.
  @Test func applesOwnRecipeWorks() async throws {
    let dev = try await SharedDev.deployment()
    let credentials = try dev.credentials()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let keyFile = credentials["keyFile"].string ?? ""
    let script = #"""
      set -eu
      JWT_ISSUE_TIME=$(date +%s)
      JWT_HEADER=$(printf '{ "alg": "ES256", "kid": "%s" }' "${AUTH_KEY_ID}" | openssl base64 -e -A | tr -- '+/' '-_' | tr -d =)
      JWT_CLAIMS=$(printf '{ "iss": "%s", "iat": %d }' "${TEAM_ID}" "${JWT_ISSUE_TIME}" | openssl base64 -e -A | tr -- '+/' '-_' | tr -d =)
      JWT_HEADER_CLAIMS="${JWT_HEADER}.${JWT_CLAIMS}"
      JWT_SIGNED_HEADER_CLAIMS=$(printf "${JWT_HEADER_CLAIMS}" | openssl dgst -binary -sha256 -sign "${TOKEN_KEY_FILE_NAME}" | openssl base64 -e -A | tr -- '+/' '-_' | tr -d =)
      AUTHENTICATION_TOKEN="${JWT_HEADER}.${JWT_CLAIMS}.${JWT_SIGNED_HEADER_CLAIMS}"
      curl -sS --cacert "$CA" --header "apns-topic: com.example.app.push-type.widgets" --header "apns-push-type: widgets" \
        --header "authorization: bearer $AUTHENTICATION_TOKEN" --data '{"aps":{"content-changed":true}}' \
        --http2 -o /dev/null -w '%{http_code}' "$APNS_HOST_NAME/3/device/${DEVICE_TOKEN}"
      """#
    let result = try await run(
      ["sh", "-c", script],
      environment: [
        "AUTH_KEY_ID": credentials["keyID"].string ?? "", "TEAM_ID": credentials["teamID"].string ?? "",
        "TOKEN_KEY_FILE_NAME": keyFile.hasPrefix("/") ? keyFile : dev.state.path(keyFile), "CA": dev.state.path("ca.pem"),
        "APNS_HOST_NAME": try dev.url("provider"), "DEVICE_TOKEN": token,
      ])
    #expect(result.text == "200", "\(result.standardError)")
  }

  @Test func widgetpushTokenPrintsOneThatWorks() async throws {
    let dev = try await SharedDev.deployment()
    let result = try await run([Deployment.executable, "token", "--state-dir", dev.state.path])
    #expect(result.status == 0, "\(result.standardError)")
    let answer = try await status("bearer \(result.text.trimmingCharacters(in: .whitespacesAndNewlines))")
    #expect(answer.status == 200, "\(answer)")
  }
}
