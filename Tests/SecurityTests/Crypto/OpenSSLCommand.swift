import Foundation

/// The `openssl` command line as the other side: what it makes we must read, what we make it must accept.
final class OpenSSLCommand {
  /// A folder of this value's own, removed with it.
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("widgetpush-crypto-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Writes a file of the folder.
  func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    try Data(bytes).write(to: folder.appendingPathComponent(name))
  }

  /// Reads a file of the folder.
  func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appendingPathComponent(name))) }

  /// Reads a file of the folder as text.
  func text(_ name: String) throws -> String { String(decoding: try read(name), as: UTF8.self) }

  /// Runs `openssl` with these arguments in the folder; both streams as one text.
  func run(_ arguments: String...) throws -> (status: Int32, output: String) { try run(program: "openssl", arguments) }

  /// Runs any program in the folder; both streams as one text.
  func run(program: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.currentDirectoryURL = folder
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
