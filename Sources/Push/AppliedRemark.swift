import Primitives

/// What a device has to say against a content-state or attributes that it shows all the same: a date that becomes another than was meant.
public enum AppliedRemark {
  /// What comes before it in the detail of such a push, behind the name of the activity.
  private static let marks: [StaticString] = ["; aps.content-state", "; aps.attributes"]

  /// The remark in a detail, which begins with the key that it is about; nil where there is none.
  public static func find(in detail: RawSpan) -> String? {
    for start in 0..<detail.byteCount {
      let rest = detail.extracting(start..<detail.byteCount)
      for mark in marks where rest.byteCount > mark.utf8CodeUnitCount && rest.extracting(first: mark.utf8CodeUnitCount).equals(mark) {
        return detail.extracting(start + 2..<detail.byteCount).string
      }
    }
    return nil
  }

  /// The same of a text.
  public static func find(in detail: String) -> String? {
    let bytes = Array(detail.utf8)
    return unsafe find(in: bytes.span.bytes)
  }
}

extension Cause {
  /// What to do about a push of that cause, where the device's own words say it better than what holds for every such push.
  public func advice(detail: String) -> String? {
    switch self {
    case .started, .updated, .ended:
      AppliedRemark.find(in: detail).map { "The activity shows something else than was meant; correct this: \($0)." }
    case .contentStateNotDecodable, .attributesNotDecodable, .dateMisread:
      detail.isEmpty ? nil : "Correct this: \(detail)\(detail.hasSuffix("?") ? "" : ".")"
    case .upstreamUnavailable:
      detail.contains("cannot be reached")
        ? "\(detail.prefix(1).uppercased())\(detail.dropFirst()): see that it runs there, that this address and its CA in the configuration are right, and that no fault of the mock device does this (widgetpush faults list --device)."
        : nil
    default: nil
    }
  }
}
