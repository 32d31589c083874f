import Primitives

// What is said of types that are neither declared in the file nor known.
extension SchemaWriter {
  /// The types that a schema has words for, told once a file.
  static let knownTypes =
    "known are the types that the file declares, \(plainNames.joined(separator: ", ")), and arrays, dictionaries, sets, ranges and optionals of these"

  mutating func unknown(_ name: String, _ arguments: [SwiftType], at place: SourcePlace) -> Written {
    guard tells(at: place) else { return .anything }
    let plain = SwiftDeclarations.plain(name.split(separator: ".").map(String.init)).joined(separator: ".")
    if let advice = Self.foundation[plain] {
      return refuse("\(name) is no type of this file, and none that a schema is made of here; \(advice)", at: place)
    }
    if Self.plainNames.contains(plain) || Self.genericNames.contains(plain) {
      return refuse("\(name) does not take \(arguments.count) generic parameters", at: place)
    }
    unknownPlaces.insert(place)
    let advice =
      near(plain).map { "did you mean \($0)?" } ?? "put its declaration into the file, or write the schema of what it decodes from by hand"
    return refuse("\(name) is no type of this file, and none of the known ones; \(advice)", at: place)
  }

  /// A name of which at most a third of the letters are others.
  private func near(_ name: String) -> String? {
    let most = name.utf8.count / 3
    let declared = declarations.order.filter { declarations.types[$0].map { $0.kind != .extended } ?? true }
    let known = (Self.plainNames + declared).filter { abs($0.utf8.count - name.utf8.count) <= most }
    return nearestName(to: name, among: Array(known.prefix(Self.comparedMax)), distanceMax: most)
  }

  /// Names that are compared with one that is not known: each costs its length squared.
  private static let comparedMax = 256
  private static let genericNames: Set<String> = [
    "Optional", "Array", "ContiguousArray", "ArraySlice", "Set", "Dictionary", "Range", "ClosedRange", "PartialRangeFrom",
    "PartialRangeThrough",
    "PartialRangeUpTo",
  ]

  /// Types of Swift and Apple's frameworks that people put into activities, with what to do about each. The JSON is what `JSONEncoder` makes of
  /// them.
  private static let foundation: [String: String] = {
    func object(_ json: String) -> String {
      "its JSON is \(json): declare a struct of that form in place of it, or write the schema by hand"
    }
    func instead(_ type: String) -> String { "nothing decodes into it; use \(type) in place of it" }
    let view = instead("a name or numbers, and make the view of them")
    return [
      "Locale": object(#"{"identifier": "en_US"}"#), "TimeZone": object(#"{"identifier": "Europe/Berlin"}"#),
      "DateInterval": object(#"{"start": 817692800, "duration": 60}, with the start as a Date"#),
      "DateComponents": object(#"{"year": 2026, "month": 12}, each part optional"#),
      "Calendar": object(#"an object with "identifier", "locale", "timeZone" and more"#),
      "IndexSet": object(#"{"indexes": [{"location": 1, "length": 2}]}"#), "IndexPath": object(#"{"indexes": [1, 2]}"#),
      "Measurement": object(#"{"value": 1.5, "unit": {"symbol": "km", "converter": {"coefficient": 1000, "constant": 0}}}"#),
      "PersonNameComponents": object(#"{"givenName": "Kate"}, each part optional"#),
      "URLComponents": object(#"{"scheme": "https", "host": "example.com", "path": "/a"}, each part optional"#),
      "CGPoint": object("[1, 2]"), "CGSize": object("[1, 2]"), "CGVector": object("[1, 2]"), "CGRect": object("[[1, 2], [3, 4]]"),
      "NSRange": object("[1, 2]"), "Duration": object("[0, 5000000000000000000], two parts of a count of attoseconds"),
      "Int128": "use Int64, or write the schema by hand", "UInt128": "use UInt64, or write the schema by hand",
      "Float16": "use Float, or write the schema by hand",
      "AttributedString": "use String, or write the schema by hand", "LocalizedStringResource": "use String, or write the schema by hand",
      "Character": instead("String"), "Substring": instead("String"), "NSString": instead("String"),
      "LocalizedStringKey": instead("String"),
      "NSNumber": instead("Int or Double"), "NSDate": instead("Date"), "NSURL": instead("URL"), "NSData": instead("Data"),
      "NSUUID": instead("UUID"),
      "Color": view, "UIColor": view, "Image": view, "UIImage": view, "Text": view, "Font": view, "Gradient": view,
      "CLLocationCoordinate2D": instead("a struct with latitude and longitude"),
      "CLLocation": instead("a struct with latitude and longitude"),
      "Any": instead("a struct or an enum"), "AnyObject": instead("a struct or an enum"), "Void": instead("Bool"),
      "Error": instead("String"),
    ]
  }()
}
