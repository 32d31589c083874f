/// Whether the store takes pushes.
public enum Readiness: Hashable, Sendable {
  /// It does.
  case ready
  /// It does not, for the reason in the sentence.
  case notReady(String)
}
