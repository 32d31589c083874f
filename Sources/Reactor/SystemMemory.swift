import CLinux

/// The C library's memory.
public enum SystemMemory {
  /// Gives what is free of it back to the system, which it does not do by itself; takes milliseconds after a burst.
  public static func giveBack() { c_linux_give_back() }
}
