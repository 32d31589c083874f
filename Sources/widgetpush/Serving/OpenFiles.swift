import Push
import Reactor

/// Whether a gateway may open as many files as its bounds of connections need.
enum OpenFiles {
  /// Files that a gateway with `loops` event loops has open when its provider face is full.
  static func needed(loops: Int) -> Int { loops * Limits.connectionsPerLoop + Limits.spareDescriptors }

  /// One sentence about a limit of open files that lets fewer connections in than `Limits.connectionsPerLoop`; nil where all fit.
  ///
  /// - Parameter limit: Files that the process may open: the hard limit, which servers raise their own to at the start.
  static func complaint(loops: Int, limit: Int = DescriptorLimit.count) -> String? {
    guard limit < needed(loops: loops) else { return nil }
    return """
      a process here may open \(limit) files (ulimit -Hn), and \(loops * Limits.connectionsPerLoop) connections need \
      \(needed(loops: loops)); further connections are closed when they come
      """
  }
}
