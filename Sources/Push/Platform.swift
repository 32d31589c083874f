/// The platforms that take pushes, as registrations and devices name them.
public enum Platform: String, CaseIterable, Sendable {
  case iOS, iPadOS, macOS, tvOS, visionOS, watchOS
}
