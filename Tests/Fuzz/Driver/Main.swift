import FuzzEntries
import Glibc

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// libFuzzer on one entry, which the variable FUZZ_ENTRY names; the arguments are libFuzzer's own.
@main
enum Main {
  static let entry = getenv("FUZZ_ENTRY").flatMap { FuzzEntry(rawValue: String(cString: $0)) }!

  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(
      runFuzzer(&count, &arguments) { bytes, count in
        Main.entry.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
        return 0
      })
  }
}
