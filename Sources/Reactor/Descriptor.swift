import Glibc

/// An owned file descriptor: dropping it closes it.
public struct Descriptor: ~Copyable, Sendable {
  let raw: Int32

  /// Takes over `raw`, which nobody else may close.
  init(owning raw: Int32) { self.raw = raw }

  deinit { _ = close(raw) }
}
