public import Configuration
import HTTPClient
import JSON
public import Primitives
import Push
import Telemetry

extension Device {
  /// What looks, whenever it is called, whether the machine's clock was set since it was last, and says so in the log.
  static func clockWatch(_ clock: VirtualClock, _ log: Log) -> () -> Void {
    var watch = ClockWatch(threshold: .seconds(Limits.clockLeapSeconds))
    return {
      guard let leap = watch.look(at: clock.moment) else { return }
      log.write(.warning, "the machine's clock was \(ClockWatch.text(of: leap))", [LogField("now", clock.real)])
    }
  }

  /// What the clock of the configured gateway shows at present, for a device to start with; nil where the gateway does not tell within two
  /// seconds: it tells its upstreams when it is next connected.
  public static func gatewayTime(_ configuration: DeviceConfiguration) throws(ConfigurationError) -> VirtualTime? {
    guard let gateway = try configuration.gatewayAccess() else { return nil }
    let client = BlockingHTTPClient(trust: gateway.trust, bounds: .init(connect: .seconds(2), total: .seconds(2)))
    var base = gateway.url[...]
    while base.hasSuffix("/") { base.removeLast() }
    var request = BlockingHTTPClient.Request("GET", base + "/v1/clock")
    request.fields = [.init("authorization", "Bearer \(gateway.readToken ?? gateway.accessToken)")]
    guard let response = try? client.perform(request), response.status == 200, let json = try? JSONValue.parse(response.body),
      let now = json["now"]?.stringValue.flatMap({ Instant(rfc3339: $0) }),
      let real = json["real"]?.stringValue.flatMap({ Instant(rfc3339: $0) })
    else { return nil }
    return json["frozen"]?.boolValue == true ? VirtualTime(frozenAt: now) : VirtualTime(lead: now - real)
  }
}
