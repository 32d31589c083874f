// Why a request is malformed. Asked only once `judge` has found that it is, and so apart from what every field goes through.
extension MessageRules {
  /// What is wrong with the field that was judged last, of a request or its trailers.
  func fault(
    of known: HeaderName?, name: UnsafePointer<UInt8>, _ nameCount: Int, value: UnsafePointer<UInt8>, _ count: Int, isTrailer: Bool,
    present: UInt32
  ) -> MalformedRequest.Fault {
    guard let known else { return faultOfUnknown(name, nameCount, value, count) }
    if known.rawValue <= HeaderName.status.rawValue {
      if isTrailer { return .trailingPseudoField }
      if known == .status { return .unknownPseudoField }
      if present & 1 << UInt32(known.rawValue) != 0 { return .repeatedField }
      return traits.contains(.hasRegular) ? .latePseudoField : .badValue
    }
    let ofValue = faultOfValue(value, count)
    switch known {
    case .host: return ofValue ?? (traits.contains(.hasHost) ? .repeatedField : .badValue)
    case .contentLength: return ofValue ?? (contentLength >= 0 ? .repeatedField : .badValue)
    default: return ofValue ?? .badValue
    }
  }

  private func faultOfUnknown(
    _ name: UnsafePointer<UInt8>, _ nameCount: Int, _ value: UnsafePointer<UInt8>, _ count: Int
  ) -> MalformedRequest.Fault {
    guard nameCount > 0 else { return .badName }
    if name[0] == UInt8(ascii: ":") { return .unknownPseudoField }
    if !FieldBytes.isName(name, nameCount) {
      // A token but for its capitals.
      return FieldBytes.isMethod(name, nameCount) ? .uppercaseName : .badName
    }
    return faultOfValue(value, count) ?? .connectionField
  }

  private func faultOfValue(_ value: UnsafePointer<UInt8>, _ count: Int) -> MalformedRequest.Fault? {
    guard !FieldBytes.isValue(value, count) else { return nil }
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    if isSpace(value[count - 1]) { return .trailingSpace }
    return isSpace(value[0]) ? .leadingSpace : .controlCharacter
  }

  /// What is wrong with a request's header list as a whole, and the field that shows it.
  func faultOfList(_ present: UInt32) -> MalformedRequest {
    let names = HeaderNames(rawValue: present)
    if traits.contains(.isCONNECT) {
      return names.contains(.authority)
        ? MalformedRequest(.unknownPseudoField, field: names.contains(.path) ? ":path" : ":scheme")
        : MalformedRequest(.missingField, field: ":authority")
    }
    for name in [HeaderName.method, .scheme, .path] where !names.contains(name) {
      return MalformedRequest(.missingField, field: "\(name.wireName)")
    }
    return MalformedRequest(.badValue, field: ":path")
  }
}
