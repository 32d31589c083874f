import JSON
import Primitives

/// JSON as it is written, with keys that may stand twice and numbers in any form.
indirect enum WrittenJSON {
  case text(String)
  case array([WrittenJSON])
  case object([(String, WrittenJSON)])

  init(_ value: JSONValue) {
    switch value {
    case .array(let elements): self = .array(elements.map(WrittenJSON.init))
    case .object(let object): self = .object(object.map { ($0.key, WrittenJSON($0.value)) })
    default: self = .text(value.serialized())
    }
  }

  var text: String {
    switch self {
    case .text(let text): text
    case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
    case .object(let members): "{\(members.map { "\"\($0.0)\":\($0.1.text)" }.joined(separator: ","))}"
    }
  }

  /// How many values there are, this one included.
  var count: Int {
    switch self {
    case .text: 1
    case .array(let elements): elements.reduce(1) { $0 + $1.count }
    case .object(let members): members.reduce(1) { $0 + $1.1.count }
    }
  }

  /// The value with the one of that number, in the order in which they are written, changed.
  func changing(_ number: Int, _ change: (WrittenJSON) -> WrittenJSON) -> WrittenJSON {
    if number == 0 { return change(self) }
    var rest = number - 1
    switch self {
    case .text: return self
    case .array(var elements):
      for index in elements.indices {
        if rest < elements[index].count {
          elements[index] = elements[index].changing(rest, change)
          break
        }
        rest -= elements[index].count
      }
      return .array(elements)
    case .object(var members):
      for index in members.indices {
        if rest < members[index].1.count {
          members[index].1 = members[index].1.changing(rest, change)
          break
        }
        rest -= members[index].1.count
      }
      return .object(members)
    }
  }
}

/// One change of a value that decodes.
struct JSONMutation {
  private var generator: SplitMix64

  init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  /// Values that stand in for others.
  private static let others = [
    "null", "true", "false", "0", "1", "-1", "2", "10", "1.0", "1.5", "-0", "-0.0", "1e2", "1E+2", "100e-2", "127", "128", "-128", "-129",
    "255",
    "256", "32767", "32768", "65536", "2147483648", "4294967295", "4294967296", "9007199254740992", "9007199254740993",
    "9007199254740993.0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551615", "18446744073709551616", "1.8446744073709551e19", "1e18", "1e19", "1e30", "1e39", "3.4028235e38", "1e-40",
    "1e-46",
    "1e-330", "1e127", "1e128", "1.0e128", "1e-128", "1e-129", "0.1", "0.30000000000000004", "12345678901234567890.5",
    "1.00000000000000000001", "817692800", "\"\"", "\"a\"", "\"sent\"", "\"done\"", "\"delivered\"", "\"1\"", "\"true\"", "\"null\"",
    "\"2026-12-01T00:00:00Z\"", "\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"", "\"E621E1F8C36C495A93FC0C247A3E6E5F\"",
    "\"{E621E1F8-C36C-495A-93FC-0C247A3E6E5F}\"", "\"aGk\"", "\"aGk=\"", "\"aGk==\"", "\"a GkK\"", "\"-_8=\"", "\"====\"",
    "\"http://a b/\"", "\"a b\"", "\"http://[::1\"", "\"http://[::1]:80/\"", "\"1:2\"", "\"a:b\"", "\"http://a:x\"", "\"http://%zz\"",
    "\"%zz\"",
    "\"\\u00e9\"", "\"\\ud83d\\ude00\"", "[]", "[null]", "[1]", "[1,2]", "[2,1]", "[1,1]", "[1,2,3]", "[\"a\"]", "[\"sent\",1]", "[[1]]",
    "{}",
    "{\"a\":1}", "{\"1\":\"a\"}", "{\"a\":null}", "{\"name\":\"a\"}", "{\"castle\":{}}", "{\"castle\":{},\"step\":{}}", "{\"waiting\":{}}",
    "{\"waiting\":{},\"other\":1}", "{\"waiting\":null}", "{\"arrived\":{\"_0\":5}}", "{\"arrived\":{}}",
    "{\"driving\":{\"kilometres\":1}}",
    "{\"x\":{}}",
  ]
  private static let spaces = [" ", "\\n", "\\t", "\\r\\n"]

  /// `valid` with one change somewhere, of which a half is such as a decoder mostly passes over.
  mutating func mutated(_ valid: WrittenJSON) -> String {
    let place = index(valid.count)
    return valid.changing(place) { value in isLikely() ? gently(value) : roughly(value) }.text
  }

  private mutating func index(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }
  private mutating func isLikely() -> Bool { generator.next() % 100 < 55 }
  private mutating func other() -> WrittenJSON { .text(Self.others[index(Self.others.count)]) }

  private mutating func gently(_ value: WrittenJSON) -> WrittenJSON {
    switch value {
    case .object(var members):
      switch index(4) {
      case 0: members.append(("unknown\(index(3))", other()))
      case 1: members.reverse()
      case 2 where !members.isEmpty:
        let (key, _) = members[index(members.count)]
        members.append((key, other()))
      default: members.insert(("ünknown", .object([("a", other())])), at: 0)
      }
      return .object(members)
    case .array(var elements):
      if index(2) == 0 { elements.reverse() } else { elements.append(contentsOf: elements) }
      return .array(elements)
    case .text(let text):
      guard text.first.map({ $0.isNumber || $0 == "-" }) == true else { return .text(" \(text)\n") }
      let isInteger = text.allSatisfy { $0.isNumber || $0 == "-" }
      switch index(4) {
      case 0: return .text(isInteger ? text + ".0" : text + "0")
      case 1: return .text(text + "e0")
      case 2: return .text(isInteger ? String(index(100)) : text)
      default: return .text(" " + text)
      }
    }
  }

  private mutating func roughly(_ value: WrittenJSON) -> WrittenJSON {
    switch value {
    case .object(var members) where !members.isEmpty && index(3) > 0:
      let place = index(members.count)
      switch index(4) {
      case 0: members.remove(at: place)
      case 1: members.insert((members[place].0, other()), at: 0)
      case 2: members[place].0 += "x"
      default: members[place].1 = .text("null")
      }
      return .object(members)
    case .array(var elements) where index(2) == 0:
      elements.insert(other(), at: index(elements.count + 1))
      return .array(elements)
    default: return other()
    }
  }
}
