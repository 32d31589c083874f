public import Primitives
public import Push

/// The JSON body of an answer with an error, as Apple writes it: compact, without a newline, in one piece.
///
/// `{"reason":"BadTopic"}`; with 410 also `"timestamp"` in milliseconds; with `BadPayload`, which is ours alone, also `"detail"`
/// and `"origin"`.
public enum ErrorBody {
  /// Appends the body for `reason` to `output`, whose free capacity is at least `Limits.errorBodyBytes`; allocates nothing.
  ///
  /// - Parameters:
  ///   - since: When the token ceased to be active; only an answer with status 410 shows it.
  ///   - detail: What is wrong with the payload; only `badPayload` shows it. What does not fit is cut off.
  public static func append(_ reason: Reason, since: Instant? = nil, detail: String? = nil, to output: inout OutputRawSpan) {
    precondition(output.freeCapacity >= Limits.errorBodyBytes, "the buffer must hold Limits.errorBodyBytes")
    append("{\"reason\":\"", to: &output)
    append(reason.text, to: &output)
    append("\"", to: &output)
    if reason.status == 410, let since {
      append(",\"timestamp\":", to: &output)
      append(since.unixMilliseconds, to: &output)
    }
    if reason == .badPayload, let detail {
      append(",\"detail\":\"", to: &output)
      appendEscaped(detail, bytesMax: Limits.errorDetailBytes, to: &output)
      append("\",\"origin\":\"widgetpush\"", to: &output)
    }
    append("}", to: &output)
  }

  private static func append(_ text: StaticString, to output: inout OutputRawSpan) {
    for index in 0..<text.utf8CodeUnitCount { output.append(unsafe text.utf8Start[index]) }
  }

  private static func append(_ number: Int64, to output: inout OutputRawSpan) {
    if number < 0 { output.append(UInt8(ascii: "-")) }
    var divisor: UInt64 = 1
    while number.magnitude / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      output.append(UInt8(ascii: "0") + UInt8(number.magnitude / divisor % 10))
      divisor /= 10
    }
  }

  /// Appends `text` as the inside of a JSON string (RFC 8259 section 7), whole scalars only, at most `bytesMax` bytes. What steers a
  /// terminal is escaped.
  private static func appendEscaped(_ text: String, bytesMax: Int, to output: inout OutputRawSpan) {
    var left = bytesMax
    for scalar in text.unicodeScalars {
      let isSpecial = scalar == "\"" || scalar == "\\"
      let bytes = scalar.isSteering ? 6 : isSpecial ? 2 : UTF8.width(scalar)
      guard bytes <= left else { return }
      left -= bytes
      if scalar.isSteering {
        append("\\u", to: &output)
        for place: UInt32 in 0..<4 { output.append(Hexadecimal.digit(UInt8(scalar.value >> (12 - 4 * place) & 15))) }
      } else {
        if isSpecial { output.append(UInt8(ascii: "\\")) }
        for byte in UTF8.encode(scalar)! { output.append(byte) }
      }
    }
  }
}
