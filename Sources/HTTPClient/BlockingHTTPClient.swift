import CCurl
public import Primitives
import Synchronization

/// An HTTP client whose calls block the calling thread: HTTP/2 or HTTP/1.1, over TLS or in plain, on libcurl.
///
/// It keeps its connections open and uses them again. Calls from several threads wait for one another; where calls shall
/// run side by side, make a client for each. Redirects are not followed and no proxy is used.
public final class BlockingHTTPClient: Sendable {
  /// Which certificates make a server trustworthy.
  public enum Trust: Hashable, Sendable {
    /// Those of the system.
    case system
    /// Those in this PEM file, and no others.
    case file(String)
    /// Those in this PEM text, and no others.
    case pem(String)
  }

  /// How long a call may take and how much it may return.
  public struct Bounds: Hashable, Sendable {
    /// From the start of the call to an open, encrypted connection.
    public var connect: TimeSpan
    /// From the start of the call to the last byte of the answer, where a request sets no other.
    public var total: TimeSpan
    /// Bytes of an answer's body.
    public var bodyBytesMax: Int

    /// Bounds with these values.
    public init(connect: TimeSpan = .seconds(5), total: TimeSpan = .seconds(30), bodyBytesMax: Int = 16 << 20) {
      self.connect = connect
      self.total = total
      self.bodyBytesMax = bodyBytesMax
    }
  }

  private let handle: Mutex<CurlHandle>

  /// A client that trusts `trust`; connects at the first call.
  public init(trust: Trust = .system, bounds: Bounds = Bounds()) {
    handle = Mutex(CurlHandle(trust: trust, bounds: bounds))
  }

  /// Sends `request` and waits for the whole answer, whatever its status.
  public func perform(_ request: Request) throws(Failure) -> Response {
    let result = handle.withLock { handle in
      Result { () throws(Failure) in try handle.perform(request) }
    }
    return try result.get()
  }

  /// Sends `request` and hands the body of an answer of success to `reader` as it comes, for as long as that returns true; the answer that
  /// is returned then has none. The body of any other answer is in it.
  ///
  /// - Parameter silence: How long nothing may come before the call fails, in whole seconds; it may take any time otherwise.
  public func stream(_ request: Request, silence: TimeSpan, reader: @Sendable ([UInt8]) -> Bool) throws(Failure) -> Response {
    var request = request
    request.silence = silence
    let result = handle.withLock { [request] handle in
      withoutActuallyEscaping(reader) { reader in
        Result { () throws(Failure) in try handle.perform(request, reader: reader) }
      }
    }
    return try result.get()
  }
}
