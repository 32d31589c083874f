/// One request to the provider face, right unless a test changes something.
struct PushRequest: Sendable {
  var method = "POST"
  var path: String
  /// Header fields in order; a value of nil leaves the field out. Without `authorization` the deployment's own provider token is sent.
  var fields: [(name: String, value: String?)]
  /// The body; nil sends none.
  var body: String?
  /// Further options for curl.
  var options: [String] = []

  /// The fields and payload of a push type for the app `com.example.app`.
  init(_ type: String, to token: String, body: String? = nil) {
    path = "/3/device/\(token)"
    let suffix =
      switch type {
      case "alert", "background": ""
      case "pushtotalk": ".voip-ptt"
      case "location": ".location-query"
      case "fileprovider": ".pushkit.fileprovider"
      case "voip", "complication": ".\(type)"
      default: ".push-type.\(type)"
      }
    fields = [("apns-topic", "com.example.app\(suffix)"), ("apns-push-type", type)]
    self.body =
      body ?? (type == "alert" ? #"{"aps":{"alert":{"title":"Hello","body":"World"}}}"# : #"{"aps":{"content-changed":true}}"#)
  }

  /// A push that reloads widgets.
  static func widgets(_ token: String) -> PushRequest { PushRequest("widgets", to: token) }

  /// The same request with a field set, replaced or (nil) left out.
  func with(_ name: String, _ value: String?) -> PushRequest {
    var copy = self
    copy.fields.removeAll { $0.name == name }
    copy.fields.append((name, value))
    return copy
  }

  /// The same request with one field more, whatever is there already.
  func adding(_ name: String, _ value: String) -> PushRequest {
    var copy = self
    copy.fields.append((name, value))
    return copy
  }

  /// The same request with another body.
  func body(_ text: String?) -> PushRequest {
    var copy = self
    copy.body = text
    return copy
  }

  /// The same request to another path.
  func at(_ path: String) -> PushRequest {
    var copy = self
    copy.path = path
    return copy
  }

  /// The same request with another method.
  func method(_ name: String) -> PushRequest {
    var copy = self
    copy.method = name
    return copy
  }
}

/// Registrations in JSON for the app `com.example.app`.
enum RegistrationBody {
  static let widgets =
    #"{"type":"widgets","bundleID":"com.example.app","environment":"development","widgets":[{"kind":"Steps","family":"systemSmall"}]}"#
  static let controls = #"{"type":"controls","bundleID":"com.example.app","environment":"development","control":{"kind":"Light"}}"#
  static let activity =
    #"{"type":"liveactivity","bundleID":"com.example.app","environment":"development","activity":{"id":"A1","attributesType":"Ride"}}"#
  static let pushToStart = #"{"type":"pushToStart","bundleID":"com.example.app","environment":"development"}"#
  static let app = #"{"type":"app","bundleID":"com.example.app","environment":"development"}"#

  /// A widgets registration with a minimum interval in seconds.
  static func widgets(minimumInterval: Int) -> String { widgets.dropLast() + #","minimumIntervalSeconds":\#(minimumInterval)}"# }
}
