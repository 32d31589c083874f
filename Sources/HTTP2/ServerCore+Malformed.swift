extension ServerCore {
  /// Keeps what is to be told of a malformed request; its field's name only for the first, so that many cost little.
  mutating func reject(_ fault: MalformedRequest.Fault, _ known: HeaderName?, _ name: UnsafePointer<UInt8>, _ count: Int) {
    let field = rejected.isEmpty ? known.map { "\($0.wireName)" } ?? MalformedRequest.printable(name, count) : ""
    rejected.append(MalformedRequest(fault, field: field))
  }
}
