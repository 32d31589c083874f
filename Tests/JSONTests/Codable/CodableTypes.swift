// Thirty-seven types as an app may have for its activities, without an init(from:) of their own. `CodableSchemas` says the same in schemas, and
// the test of `schemas from-swift` reads this file itself.
import Foundation

struct Plain: Codable {
  var title: String
  var count: Int
}

struct Optionals: Codable {
  var driver: String?
  var stops: Int?
  var eta: Date?
  var isLate: Bool?
}

struct Flags: Codable {
  var isOn: Bool
  let isLocked: Bool
}

struct Doubles: Codable {
  var ratio: Double
  var temperature: Double?
}

struct Floats: Codable {
  var level: Float
  var levels: [Float]
}

struct Decimals: Codable {
  var price: Decimal
  var tip: Decimal?
}

struct SmallIntegers: Codable {
  var a: Int8
  var b: Int16
  var c: Int32
}

struct WideIntegers: Codable {
  var a: Int64
  var b: UInt64
  var c: UInt
}

struct UnsignedIntegers: Codable {
  var a: UInt8
  var b: UInt16
  var c: UInt32
}

struct Dates: Codable {
  var start: Date
  var end: Date?
}

struct Identified: Codable {
  var id: UUID
  var parent: UUID?
}

struct Linked: Codable {
  var image: URL
  var page: URL?
}

struct Blob: Codable {
  var icon: Data
  var mask: Data?
}

struct Tags: Codable {
  var tags: [String]
  var notes: [String?]
}

struct Matrix: Codable {
  var cells: [[Int]]
}

struct Unique: Codable {
  var names: Set<String>
  var numbers: Set<Int>?
}

struct Scores: Codable {
  var byTeam: [String: Int]
}

struct Rounds: Codable {
  var byRound: [Int: String]
}

struct Sparse: Codable {
  var values: [String: Double?]
}

struct Staged: Codable {
  enum Stage: String, Codable { case packed, sent, delivered = "done" }
  var stage: Stage
  var next: Stage?
}

struct Levelled: Codable {
  enum Level: Int, Codable { case low = 1, middle, high = 10 }
  var level: Level
}

struct StageCounts: Codable {
  enum Stage: String, Codable { case packed, sent }
  var counts: [Stage: Int]
}

struct Progressing: Codable {
  enum Progress: Codable {
    case waiting
    case driving(kilometres: Double, towards: String?)
    case arrived(Date)
  }
  var progress: Progress
}

struct Paired: Codable {
  enum Move: Codable {
    case castle
    case step(Int, Int)
  }
  var moves: [Move]
}

struct Window: Codable {
  var hours: Range<Int>
  var degrees: ClosedRange<Double>
}

struct Nested: Codable {
  struct Stop: Codable {
    var name: String
    var at: Date?
  }
  var first: Stop
  var last: Stop?
}

struct Listed: Codable {
  struct Stop: Codable {
    var name: String
    var minutes: Int
  }
  var stops: [Stop]
}

struct Renamed: Codable {
  enum CodingKeys: String, CodingKey {
    case title = "t"
    case count = "n"
  }
  var title: String
  var count: Int
}

struct PartlyCoded: Codable {
  enum CodingKeys: CodingKey { case title }
  var title: String
  var draws = 0
}

struct Defaulted: Codable {
  var count = 5
  var name: String? = "nobody"
  static let limit = 10
  var double: Int { count * 2 }
}

struct Keyed: Codable {
  struct Place: Codable {
    var row: Int
    var seat: String?
  }
  var places: [String: Place]
}

struct Deep: Codable {
  struct Match: Codable {
    struct Team: Codable {
      var name: String
      var goals: UInt8
    }
    enum Phase: String, Codable { case first, second, over }
    var home: Team
    var away: Team
    var phase: Phase
    var events: [String: [Int]]
  }
  var match: Match
}

typealias RawStage = String

struct Extended: Codable {
  enum Stage: RawStage { case packed, sent }
  var stage: Stage
  init(from stages: [Stage]) { stage = stages.first ?? .packed }
}

extension Extended.Stage: Codable {}

struct Represented: Codable {
  struct Ticket: RawRepresentable, Codable { var rawValue: String }
  struct Wagon: RawRepresentable, Codable { var rawValue: UUID }
  struct Extras: OptionSet, Codable { let rawValue: UInt8 }
  var ticket: Ticket
  var wagon: Wagon?
  var extras: Extras
}

struct Boxed: Codable {
  struct Box<Value: Codable>: Codable {
    var value: Value
    var list: [Value]
  }
  typealias Perhaps<Value> = Value?
  var perhaps: Box<Int?>
  var sure: Box<String>
  var other: Perhaps<Bool>
}

struct Tupled: Codable {
  let (row, seat): (Int, String)
}

struct Referring: Codable {
  final class Team: Codable { var name: String }
  var home: Team
  weak var away: Team?
  lazy var length: Int = 5
}
