/// What one commit changes about errands: what the gateway does of its own accord, step by step. An engine keeps their bytes and never
/// looks into them.
public enum ErrandChange: Sendable {
  /// An errand is new: what never changes of it, and what does.
  case put(number: UInt32, fixed: [UInt8], progress: [UInt8])
  /// It has come further.
  case progress(number: UInt32, [UInt8])
  /// It is not remembered any more.
  case forget(number: UInt32)
}
