import CLinux
import Glibc

/// A failed system call: its name and the `errno` it left.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The call that failed, as the manual names it.
  public let call: String
  /// What it left in `errno`.
  public let code: Int32

  /// A failure of `call` with the error number `code`.
  public init(call: String, code: Int32) {
    self.call = call
    self.code = code
  }

  /// The C library's sentence for the code, such as `Address already in use`.
  public var reason: String { String(cString: strerror(code)) }
  /// The sentence with the call in front.
  public var description: String { "\(call): \(reason)" }
  /// Whether somebody else has the address (`EADDRINUSE`).
  public var isAddressInUse: Bool { code == EADDRINUSE }
  /// Whether no interface of this machine has the address (`EADDRNOTAVAIL`).
  public var isAddressForeign: Bool { code == EADDRNOTAVAIL }
  static let tooManyDescriptors = SystemError(call: "watch", code: EMFILE)
  /// Whether the process or the machine is out of descriptors (`EMFILE`, `ENFILE`).
  public var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }
}

/// Runs `body` again while it is interrupted; nil means that the call would block.
///
/// The one place that knows `EINTR` and `EAGAIN`.
@inline(__always)
func syscall<T: FixedWidthInteger>(_ call: StaticString, _ body: () -> T) throws(SystemError) -> T? {
  while true {
    let result = body()
    if result != -1 { return result }
    switch c_linux_errno() {
    case EINTR: continue
    case EAGAIN: return nil
    case let code: throw SystemError(call: String(describing: call), code: code)
    }
  }
}

/// The same for a call that never blocks: a missing result is our own mistake.
@inline(__always)
func syscallNow<T: FixedWidthInteger>(_ call: StaticString, _ body: () -> T) throws(SystemError) -> T {
  guard let result = try syscall(call, body) else { throw SystemError(call: String(describing: call), code: EAGAIN) }
  return result
}
