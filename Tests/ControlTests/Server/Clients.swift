import Foundation
import Glibc
import Recorder
import Testing

/// Runs blocking work on a thread that handlers do not need: the pool of tasks has only as many as there are cores.
func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    Foundation.Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
  }
}

/// What curl printed and how it ended.
struct CurlResult: Sendable {
  let status: Int32
  let output: String
}

/// A curl that has not been started, with these arguments and the tests' certificate authority, and its output.
private func preparedCurl(_ arguments: [String]) -> (process: Process, output: Pipe) {
  let (process, output) = (Process(), Pipe())
  process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
  process.arguments = ["--silent", "--max-time", "120", "--cacert", TestCertificates.authorityPath] + arguments
  process.standardOutput = output
  process.standardError = FileHandle.nullDevice
  return (process, output)
}

/// Runs curl with these arguments and the tests' certificate authority; `%{…}` of `-w` go to the output.
func curl(_ arguments: [String], input: [UInt8] = []) async throws -> CurlResult {
  try await blocking {
    let (process, output) = preparedCurl(arguments)
    let inputPipe = Pipe()
    process.standardInput = inputPipe
    try process.run()
    if !input.isEmpty { try inputPipe.fileHandleForWriting.write(contentsOf: Data(input)) }
    try inputPipe.fileHandleForWriting.close()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return CurlResult(status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
  }
}

/// Runs curl until `isEnough`, which is given its output, returns; then it is ended, and its connection with it.
func curl(_ arguments: [String], until isEnough: (FileHandle) async throws -> Void) async throws {
  let (process, output) = preparedCurl(arguments)
  process.standardInput = FileHandle.nullDevice
  let started = Recorder<Int32>()
  // The thread that starts a process is the one that hears of its end. It has signals blocked, and so has curl: all but SIGKILL.
  async let ended: Void = blocking {
    try process.run()
    started.append(process.processIdentifier)
    process.waitUntilExit()
  }
  try await started.until { !$0.isEmpty }
  do {
    defer { kill(process.processIdentifier, SIGKILL) }
    try await isEnough(output.fileHandleForReading)
  }
  try await ended
}

/// A plain TCP connection to loopback that blocks, for at most two minutes at a time.
final class RawClient: Sendable {
  private let descriptor: Int32

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var timeout = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    guard result == 0 else { throw CocoaError(.fileReadUnknown) }
  }

  deinit { _ = close(descriptor) }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      sent += count
    }
  }

  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Closes so that the peer sees a reset.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// Reads until `isEnough`, the peer's end, or two minutes without a byte.
  func read(until isEnough: (String) -> Bool = { _ in false }) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while !isEnough(String(decoding: bytes, as: UTF8.self)) {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether the peer has closed, which is waited for up to ten seconds; bytes before it are thrown away.
  func isClosedByPeer() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count == 0 { return true }
      if count < 0 { return errno == ECONNRESET }
    }
  }
}
