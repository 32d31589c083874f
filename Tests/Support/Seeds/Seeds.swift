import Foundation

/// The seeds of a random test: as many as `count`, and ten times as many where `scripts/test --long` runs it.
public func seeds(_ count: UInt64) -> ClosedRange<UInt64> { 1...(isLong ? 10 * count : count) }

private let isLong = ProcessInfo.processInfo.environment["WIDGETPUSH_LONG"] != nil
