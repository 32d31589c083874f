import Glibc

/// How many file descriptors the process may have open.
public enum DescriptorLimit {
  /// The limit at the first look (`ulimit -n`); it is not changed while the process runs.
  public static let count: Int = {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    return Int(clamping: limit.rlim_cur)
  }()
}

extension Descriptor {
  /// Whether fewer than `count` descriptors are left to the process beside this new one; a part of them where the process may
  /// have fewer than 512. The kernel gives out the lowest number that is free, so the number tells.
  public func leavesFewerThan(_ count: Int, of limit: Int = DescriptorLimit.count) -> Bool {
    Int(raw) >= limit - count * min(limit, 512) / 512
  }
}
