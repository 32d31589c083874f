/// The value of `apns-priority`.
///
/// Source: Apple, "Sending notification requests to APNs": an absent header means 10.
public enum Priority: UInt8, CaseIterable, Sendable {
  /// Delivered immediately.
  case immediate = 10
  /// Delivered with regard to the device's power.
  case considerate = 5
  /// Never wakes the device.
  case passive = 1
}
