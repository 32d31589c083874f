import Foundation
import JSON
import Testing

/// A type, its schema, and a value that decodes.
struct CodableCase: Sendable, CustomTestStringConvertible {
  let name: String
  let schema: String
  let valid: String
  let decodes: @Sendable (Data) -> Bool
  var testDescription: String { name }

  init<T: Decodable & SendableMetatype>(_ type: T.Type, _ schema: String, _ valid: String) {
    name = "\(type)"
    self.schema = schema
    self.valid = valid
    decodes = { (try? JSONDecoder().decode(T.self, from: $0)) != nil }
  }

  /// A schema of an object with these properties.
  private static func object(_ properties: String, _ required: String...) -> String {
    #"{"properties":{\#(properties)},"required":[\#(required.map { "\"\($0)\"" }.joined(separator: ","))]}"#
  }

  private static let stop = object(#""name":{"type":"string"},"at":{"format":"date2001"}"#, "name")
  private static let team = object(#""name":{"type":"string"},"goals":{"format":"uint8"}"#, "name", "goals")
  private static let match = object(
    #""home":\#(team),"away":\#(team),"phase":{"enum":["first","second","over"]},"events":{"additionalProperties":{"items":{"type":"integer"}}}"#,
    "home", "away", "phase", "events")

  private static let side = object(#""name":{"type":"string"}"#, "name")

  private static func box(_ value: String) -> String { object(#""value":\#(value),"list":{"items":\#(value)}"#, "value", "list") }

  static let all: [CodableCase] = [
    .init(Plain.self, object(#""title":{"type":"string"},"count":{"type":"integer"}"#, "title", "count"), #"{"title":"a","count":3}"#),
    .init(
      Optionals.self,
      object(
        #""driver":{"type":"string"},"stops":{"type":["integer","null"]},"eta":{"type":["number","null"],"format":"date2001"},"isLate":{"type":"boolean"}"#
      ),
      #"{"driver":"Kate","stops":3,"eta":817692800,"isLate":false}"#),
    .init(
      Flags.self, object(#""isOn":{"type":"boolean"},"isLocked":{"type":"boolean"}"#, "isOn", "isLocked"),
      #"{"isOn":true,"isLocked":false}"#),
    .init(
      Doubles.self, object(#""ratio":{"type":"number"},"temperature":{"format":"double"}"#, "ratio"), #"{"ratio":0.5,"temperature":21}"#),
    .init(
      Floats.self, object(#""level":{"format":"float"},"levels":{"items":{"type":"number","format":"float"}}"#, "level", "levels"),
      #"{"level":0.25,"levels":[1,2.5]}"#),
    .init(Decimals.self, object(#""price":{"format":"decimal"},"tip":{"format":"decimal"}"#, "price"), #"{"price":12.95,"tip":1}"#),
    .init(
      SmallIntegers.self, object(#""a":{"format":"int8"},"b":{"format":"int16"},"c":{"format":"int32"}"#, "a", "b", "c"),
      #"{"a":-5,"b":300,"c":70000}"#),
    .init(
      WideIntegers.self, object(#""a":{"format":"int64"},"b":{"format":"uint64"},"c":{"format":"uint64"}"#, "a", "b", "c"),
      #"{"a":-5,"b":18446744073709551615,"c":9}"#),
    .init(
      UnsignedIntegers.self, object(#""a":{"format":"uint8"},"b":{"format":"uint16"},"c":{"format":"uint32"}"#, "a", "b", "c"),
      #"{"a":5,"b":300,"c":70000}"#),
    .init(
      Dates.self, object(#""start":{"format":"date2001"},"end":{"format":"date2001"}"#, "start"), #"{"start":817692800,"end":817692900.5}"#),
    .init(
      Identified.self, object(#""id":{"format":"uuid"},"parent":{"type":"string","format":"uuid"}"#, "id"),
      #"{"id":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F","parent":"e621e1f8-c36c-495a-93fc-0c247a3e6e5f"}"#),
    .init(
      Linked.self, object(#""image":{"format":"url"},"page":{"format":"url"}"#, "image"), #"{"image":"https://a.example/b?c#d","page":"e"}"#
    ),
    .init(Blob.self, object(#""icon":{"format":"byte"},"mask":{"format":"byte"}"#, "icon"), #"{"icon":"aGk=","mask":"aGkh"}"#),
    .init(
      Tags.self, object(#""tags":{"items":{"type":"string"}},"notes":{"items":{"type":["string","null"]}}"#, "tags", "notes"),
      #"{"tags":["a","b"],"notes":["c",null]}"#),
    .init(Matrix.self, object(#""cells":{"items":{"items":{"type":"integer"}}}"#, "cells"), #"{"cells":[[1,2],[],[3]]}"#),
    .init(
      Unique.self,
      object(#""names":{"uniqueItems":true,"items":{"type":"string"}},"numbers":{"items":{"type":"integer"},"uniqueItems":true}"#, "names"),
      #"{"names":["a","b"],"numbers":[1,2]}"#),
    .init(Scores.self, object(#""byTeam":{"additionalProperties":{"type":"integer"}}"#, "byTeam"), #"{"byTeam":{"red":1,"blue":2}}"#),
    .init(
      Rounds.self, object(#""byRound":{"additionalProperties":{"type":"string"},"propertyNames":{"type":"integer"}}"#, "byRound"),
      #"{"byRound":{"1":"a","-2":"b"}}"#),
    .init(
      Sparse.self, object(#""values":{"additionalProperties":{"type":["number","null"]}}"#, "values"), #"{"values":{"a":1.5,"b":null}}"#),
    .init(
      Staged.self, object(#""stage":{"enum":["packed","sent","done"]},"next":{"enum":["packed","sent","done"]}"#, "stage"),
      #"{"stage":"sent","next":"done"}"#),
    .init(Levelled.self, object(#""level":{"enum":[1,2,10]}"#, "level"), #"{"level":2}"#),
    .init(
      StageCounts.self, object(#""counts":{"prefixItems":[{"enum":["packed","sent"]},{"type":"integer"}]}"#, "counts"),
      #"{"counts":["packed",1,"sent",2]}"#),
    .init(
      Progressing.self,
      object(
        #""progress":{"oneOf":[{"properties":{"waiting":{}},"required":["waiting"]},{"required":["driving"],"properties":{"driving":\#(object(#""kilometres":{"type":"number"},"towards":{"type":"string"}"#, "kilometres"))}},{"required":["arrived"],"properties":{"arrived":\#(object(#""_0":{"format":"date2001"}"#, "_0"))}}]}"#,
        "progress"), #"{"progress":{"driving":{"kilometres":4.5,"towards":"home"}}}"#),
    .init(
      Paired.self,
      object(
        #""moves":{"items":{"oneOf":[{"required":["castle"]},{"required":["step"],"properties":{"step":\#(object(#""_0":{"type":"integer"},"_1":{"type":"integer"}"#, "_0", "_1"))}}]}}"#,
        "moves"), #"{"moves":[{"castle":{}},{"step":{"_0":1,"_1":2}}]}"#),
    .init(
      Window.self,
      object(
        #""hours":{"type":"array","format":"range","items":{"type":"integer"}},"degrees":{"format":"range","items":{"type":"number"}}"#,
        "hours",
        "degrees"), #"{"hours":[8,18],"degrees":[-1.5,20]}"#),
    .init(Nested.self, object(#""first":\#(stop),"last":\#(stop)"#, "first"), #"{"first":{"name":"a","at":5},"last":{"name":"b"}}"#),
    .init(
      Listed.self,
      object(#""stops":{"items":\#(object(#""name":{"type":"string"},"minutes":{"type":"integer"}"#, "name", "minutes"))}"#, "stops"),
      #"{"stops":[{"name":"a","minutes":5},{"name":"b","minutes":7}]}"#),
    .init(Renamed.self, object(#""t":{"type":"string"},"n":{"type":"integer"}"#, "t", "n"), #"{"t":"a","n":3}"#),
    .init(PartlyCoded.self, object(#""title":{"type":"string"}"#, "title"), #"{"title":"a","draws":3}"#),
    .init(
      Defaulted.self, object(#""count":{"type":"integer"},"name":{"type":"string"}"#, "count"), #"{"count":5,"version":2,"name":"kate"}"#),
    .init(
      Keyed.self,
      object(#""places":{"additionalProperties":\#(object(#""row":{"type":"integer"},"seat":{"type":"string"}"#, "row"))}"#, "places"),
      #"{"places":{"a":{"row":1,"seat":"b"},"c":{"row":2}}}"#),
    .init(
      Deep.self, object(#""match":\#(match)"#, "match"),
      #"{"match":{"home":{"name":"a","goals":1},"away":{"name":"b","goals":2},"phase":"over","events":{"a":[1,90],"b":[]}}}"#),
    .init(Extended.self, object(#""stage":{"enum":["packed","sent"]}"#, "stage"), #"{"stage":"sent"}"#),
    .init(
      Represented.self,
      object(
        #""ticket":{"type":"string"},"wagon":\#(object(#""rawValue":{"format":"uuid"}"#, "rawValue")),"extras":{"format":"uint8"}"#,
        "ticket", "extras"),
      #"{"ticket":"a","wagon":{"rawValue":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F"},"extras":3}"#),
    .init(
      Boxed.self,
      object(
        #""perhaps":\#(box(#"{"type":["integer","null"]}"#)),"sure":\#(box(#"{"type":"string"}"#)),"other":{"type":"boolean"}"#, "perhaps",
        "sure"),
      #"{"perhaps":{"value":null,"list":[1,null]},"sure":{"value":"a","list":["b"]},"other":true}"#),
    .init(Tupled.self, object(#""row":{"type":"integer"},"seat":{"type":"string"}"#, "row", "seat"), #"{"row":3,"seat":"B"}"#),
    .init(
      Referring.self, object(#""home":\#(side),"away":\#(side)"#, "home"), #"{"home":{"name":"a"},"away":{"name":"b"},"length":"x"}"#),
  ]
}
