import Foundation

/// JSON read by Foundation's parser, so that the product's own is not its own judge.
struct Document: CustomStringConvertible, @unchecked Sendable {
  // Foundation's JSON objects are immutable once parsed.
  private let value: Any?

  private init(_ value: Any?) { self.value = value }

  init(_ data: Data) throws {
    do { value = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) } catch {
      throw HarnessError("not JSON: \(String(decoding: data, as: UTF8.self))")
    }
  }

  subscript(key: String) -> Document { Document((value as? [String: Any])?[key]) }
  subscript(index: Int) -> Document {
    guard let array = value as? [Any], array.indices.contains(index) else { return Document(nil) }
    return Document(array[index])
  }

  var string: String? { value as? String }
  var int: Int? { (value as? NSNumber)?.intValue }
  var double: Double? { (value as? NSNumber)?.doubleValue }
  var bool: Bool? { value as? Bool }
  var array: [Document] { (value as? [Any] ?? []).map(Document.init) }
  var keys: Set<String> { Set((value as? [String: Any] ?? [:]).keys) }
  var isMissing: Bool { value == nil }

  var description: String {
    guard let value else { return "(missing)" }
    guard JSONSerialization.isValidJSONObject(value),
      let data = try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
    else { return "\(value)" }
    return String(decoding: data, as: UTF8.self)
  }
}
