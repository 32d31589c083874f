import Glibc

/// How many file descriptors the process may have open.
public enum DescriptorLimit {
  /// The limit of the process, raised at the first look to what the administrator allows it (`ulimit -Hn`); it is not changed
  /// while the process runs. Nothing here waits with select, which the usual low limit is for.
  public static let count: Int = {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return 1024 }
    var raised = rlimit(rlim_cur: min(limit.rlim_max, rlim_t(countMax)), rlim_max: limit.rlim_max)
    if raised.rlim_cur > limit.rlim_cur && setrlimit(resource, &raised) == 0 { limit = raised }
    return Int(clamping: limit.rlim_cur)
  }()

  /// More than a process here can use; the hard limit may be a billion.
  private static let countMax = 1 << 20
}

extension Descriptor {
  /// Whether fewer than `count` descriptors are left to the process beside this new one; a part of them where the process may
  /// have fewer than 512. The kernel gives out the lowest number that is free, so the number tells.
  public func leavesFewerThan(_ count: Int, of limit: Int = DescriptorLimit.count) -> Bool {
    Int(raw) >= limit - count * min(limit, 512) / 512
  }

  /// The same file under the lowest number that is free by now; itself where there is none.
  public consuming func lowered() -> Descriptor {
    let lower = fcntl(raw, F_DUPFD_CLOEXEC, 0)
    return lower < 0 ? self : Descriptor(owning: lower)
  }
}
