import COpenSSL
import Primitives

/// The ciphertext side of a session while one call runs: what came from the socket, and where output goes.
///
/// Nothing is kept between calls, so a session owns no buffers of its own beside OpenSSL's.
struct MemoryWire {
  var input = UnsafeRawBufferPointer(start: nil, count: 0)
  var output: UnsafeMutablePointer<ByteQueue>?

  /// A BIO (OpenSSL's stream of bytes) that reads and writes the wire at `address`.
  static func makeBIO(_ address: UnsafeMutablePointer<MemoryWire>) -> OpaquePointer {
    guard let bio = BIO_new(method) else { preconditionFailure("OpenSSL has no memory for a BIO") }
    BIO_set_data(bio, address)
    BIO_set_init(bio, 1)
    return bio
  }

  /// The one method table of the process; never changed once built.
  nonisolated(unsafe) private static let method: OpaquePointer = {
    guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "memory wire") else {
      preconditionFailure("OpenSSL has no memory for a BIO method")
    }
    let read = BIO_meth_set_read(method) { bio, target, length in
      let wire = BIO_get_data(bio)!.assumingMemoryBound(to: MemoryWire.self)
      BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
      let count = min(Int(length), wire.pointee.input.count)
      guard count > 0 else {
        BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        return -1
      }
      UnsafeMutableRawPointer(target!).copyMemory(from: wire.pointee.input.baseAddress!, byteCount: count)
      wire.pointee.input = UnsafeRawBufferPointer(rebasing: wire.pointee.input[count...])
      return Int32(count)
    }
    let write = BIO_meth_set_write(method) { bio, source, length in
      let wire = BIO_get_data(bio)!.assumingMemoryBound(to: MemoryWire.self)
      BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
      let bytes = RawSpan(_unsafeStart: UnsafeRawPointer(source!), byteCount: Int(length))
      // All or nothing: the callers leave room for whole records, so a part would only hide a mistake.
      guard let output = wire.pointee.output, output.pointee.free >= Int(length) else {
        BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
        return -1
      }
      output.pointee.append(bytes)
      return length
    }
    let control = BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
    precondition(read == 1 && write == 1 && control == 1, "a BIO method takes its functions")
    return method
  }()
}
