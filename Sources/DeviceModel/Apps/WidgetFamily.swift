/// The families a widget may be placed in.
///
/// Source: Apple, `WidgetFamily`.
public enum WidgetFamily: String, CaseIterable, Sendable {
  case systemSmall, systemMedium, systemLarge, systemExtraLarge, systemExtraLargePortrait
  case accessoryCircular, accessoryRectangular, accessoryInline, accessoryCorner
}
