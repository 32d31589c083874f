import Glibc
import Primitives

/// How far long work has come, on one row of a terminal; nothing at all where standard error is none.
struct Progress {
  private let isShown = isatty(STDERR_FILENO) == 1
  private let noun: String
  private var shownAt = Instant.distantPast

  /// Progress that counts things of that name.
  init(_ noun: String) { self.noun = noun }

  /// Shows the count, of so many where that is known, a few times a second at most.
  mutating func show(_ count: Int, of total: Int? = nil) {
    guard isShown, Machine.steady - shownAt >= .milliseconds(200) else { return }
    shownAt = Machine.steady
    _ = Files.writeAll(Array("\r\(count)\(total.map { " of \($0)" } ?? "") \(noun)".utf8), to: STDERR_FILENO)
  }

  /// Clears the row.
  func end() {
    if isShown, shownAt != .distantPast { _ = Files.writeAll(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO) }
  }
}
