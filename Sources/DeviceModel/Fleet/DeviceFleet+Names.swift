import Primitives
import Push

extension DeviceFleet {
  /// The device of that name, or that has that token; a device that is only a token becomes one of its own. Nil when there is none.
  mutating func existing(_ name: String) throws(DeviceError) -> String? {
    if devices[name] != nil { return name }
    guard let token = DeviceToken(hex: name), let index = tokens.find(token) else { return nil }
    if let device = deviceName(of: tokens[index]) { return device }
    guard tokens[index].owner == .adopted else { return nil }
    guard materialise(index) else { throw tooManyDevices }
    return token.hex
  }

  /// The error of one device too many.
  var tooManyDevices: DeviceError {
    DeviceError(.full, "this mock hosts \(devicesMax) devices, as many as it may; remove one first")
  }

  /// The device of that name, or that has that token; an error names none all of whose apps are hidden.
  mutating func hosted(_ name: String, sees: (String) -> Bool = { _ in true }) throws(DeviceError) -> String {
    guard let device = try existing(name) else { throw unknownDevice(name, sees: sees) }
    return device
  }

  /// Where the app is on the device of that name or token; an error names no app that is hidden.
  mutating func place(of bundleID: String, on device: String, sees: (String) -> Bool = { _ in true }) throws(DeviceError) -> AppPlace {
    let name = try hosted(device, sees: sees)
    guard let app = devices[name]!.index(of: bundleID) else {
      let known = devices[name]!.apps.map(\.bundleID).filter(sees)
      let hint = nearestName(to: bundleID, among: known).map { "; did you mean \($0)?" } ?? ""
      throw DeviceError(.notFound, "\(name) has no app \(bundleID)\(hint)", field: "bundleID")
    }
    return AppPlace(device: name, app: app)
  }

  /// The error that names the device most like `name`, of those with an app that is shown.
  func unknownDevice(_ name: String, sees: (String) -> Bool = { _ in true }) -> DeviceError {
    let shown = devices.prefix(1000).filter { $0.value.isShown(to: sees) }.map(\.key)
    let hint = nearestName(to: name, among: shown).map { "; did you mean \($0)?" } ?? ""
    return DeviceError(.notFound, "there is no device \(name)\(hint)", field: "device")
  }

  /// Whether it can be a name, short and printable.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= Limits.deviceNameBytes && !name.contains("/") && !name.hasSteering
  }

  /// Refuses names that cannot stand in a path or a log line.
  static func check(name: String, what: String, field: String) throws(DeviceError) {
    guard isName(name) else {
      throw DeviceError(
        .invalid, "\(what) must have 1 to \(Limits.deviceNameBytes) bytes without slashes and control characters", field: field)
    }
  }

  /// Refuses what App Store Connect would not take as a bundle id.
  static func check(bundleID: String) throws(DeviceError) {
    let isPlain = bundleID.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard !bundleID.isEmpty, bundleID.utf8.count <= Limits.bundleIDBytes, isPlain else {
      throw DeviceError(
        .invalid, "bundleID must have 1 to \(Limits.bundleIDBytes) letters, digits, periods and hyphens, not \(bundleID.debugDescription)",
        field: "bundleID")
    }
  }

  /// The part of `name` that an id made from it begins with, so that a number fits behind it.
  static func stem(_ name: String) -> String {
    var stem = ""
    for scalar in name.unicodeScalars where stem.utf8.count < Limits.deviceNameBytes - 16 { stem.unicodeScalars.append(scalar) }
    return stem
  }

  /// The id that a person gave the item, or the first free one made from its kind.
  func itemID(_ id: String?, kind: String, at place: AppPlace) throws(DeviceError) -> String {
    guard let id else {
      let stem = Self.stem(kind)
      var ordinal = 1
      while self[place].has(itemID: "\(stem)-\(ordinal)") { ordinal += 1 }
      return "\(stem)-\(ordinal)"
    }
    try Self.check(name: id, what: "an id", field: "id")
    guard !self[place].has(itemID: id) else {
      throw DeviceError(.conflict, "\(place.device) has an item with the id \(id) already", field: "id")
    }
    return id
  }
}
