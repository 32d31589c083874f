import Foundation

/// Counts the allocations of a server that is started with `environment`, from outside, while it runs.
final class AllocationCounter: Sendable {
  /// Allocations so far, by who asked for them.
  struct Counts: Equatable, CustomStringConvertible {
    /// The executable and the Swift runtime.
    var ours: Int
    /// libnghttp2, past its free list.
    var nghttp2: Int
    /// libssl, libcrypto, libsqlite3, libc and the rest.
    var others: Int

    static func - (a: Counts, b: Counts) -> Counts {
      Counts(ours: a.ours - b.ours, nghttp2: a.nghttp2 - b.nghttp2, others: a.others - b.others)
    }
    var description: String { "ours \(ours), nghttp2 \(nghttp2), others \(others)" }
  }

  private let folder: Folder

  /// Compiles the counter.
  init() async throws {
    folder = try Folder()
    let source = repository + "/Tests/Support/CAllocCounter/counter.c"
    _ = try await output(["clang", "-shared", "-fPIC", "-O2", "-o", folder.path("counter.so"), source])
  }

  /// What makes a process count.
  var environment: [String: String] { ["LD_PRELOAD": folder.path("counter.so"), "ALLOC_COUNTER_FILE": folder.path("counts")] }

  /// The counts now.
  func counts() throws -> Counts {
    let bytes = [UInt8](try folder.read("counts"))
    let values = stride(from: 0, to: 24, by: 8).map { start in
      bytes[start..<(start + 8)].reversed().reduce(Int(0)) { $0 << 8 | Int($1) }
    }
    return Counts(ours: values[0], nghttp2: values[1], others: values[2])
  }
}
