import DeviceModel
import Faults
import Primitives
import Push

/// The value of `widgetpush-outcome`: `<disposition>[ <cause>[ <detail>]]`, by which a mock device tells its gateway what it did.
///
/// One buffer serves all answers of a loop, so that a plain reload allocates nothing.
struct OutcomeHeader: ~Copyable {
  private var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(Limits.outcomeHeaderBytes) }

  /// Writes the value for `outcome`; a refusal has no value but the disposition, and says all in its body.
  mutating func write(_ outcome: PushOutcome) {
    bytes.removeAll(keepingCapacity: true)
    switch outcome {
    case .refused: append("refused")
    case .applied(.reloaded, nil): append("applied reloaded")
    case .applied(let cause, let detail), .ignored(let cause, let detail):
      append(outcome.disposition.name)
      append(" ")
      append(cause.name)
      if let detail {
        append(" ")
        append(detail)
      }
    }
    trim()
  }

  /// Writes the value for a broadcast, which tells how many activities it reached.
  mutating func write(_ outcome: BroadcastOutcome) {
    bytes.removeAll(keepingCapacity: true)
    append("\(outcome.outcome.disposition.name) \(outcome.outcome.cause.name) \(outcome.detail)")
    trim()
  }

  /// Writes the value for an answer that a fault has made.
  mutating func write(_ strike: FaultStrike) {
    bytes.removeAll(keepingCapacity: true)
    append("refused \(Cause.fault.name) \(strike.sentence) (on the mock device)")
    trim()
  }

  /// The value that was written last.
  var value: RawSpan {
    @_lifetime(borrow self) get { unsafe bytes.span.bytes }
  }

  /// Appends what may stand in a header field; anything beyond ASCII and what does not fit is left out or replaced.
  private mutating func append(_ text: String) {
    for scalar in text.unicodeScalars where bytes.count < Limits.outcomeHeaderBytes {
      bytes.append(scalar.value >= 0x20 && scalar.value < 0x7F ? UInt8(scalar.value) : UInt8(ascii: "?"))
    }
  }

  /// A field value does not end with a space, whatever the detail does or wherever it was cut: the whole answer would be malformed
  /// (RFC 9113 section 8.2.1), and the push sent again.
  private mutating func trim() {
    while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
  }
}
