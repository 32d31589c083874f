import CCurl
import Glibc

extension BlockingHTTPClient {
  /// Why there is no answer.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The class of the fault, for callers that act on it.
    public enum Kind: Hashable, Sendable {
      /// The URL or a header field cannot be sent.
      case badRequest
      /// The host's name has no address.
      case unknownHost
      /// Nothing listens there.
      case connectionRefused
      /// The host cannot be reached.
      case unreachable
      /// The server's certificate is not one that the client trusts, or names another host.
      case untrusted
      /// The file or text with trusted certificates cannot be used.
      case badTrust
      /// The TLS handshake failed for another reason.
      case handshake
      /// It took too long.
      case timeout
      /// The connection ended before the answer did.
      case connectionLost
      /// The answer is larger than the client's bound.
      case tooLarge
      /// The server's bytes are not HTTP.
      case malformed
    }

    /// The class of the fault.
    public var kind: Kind
    /// One sentence for a person: what went wrong, where, and what may help.
    public var message: String

    init(_ kind: Kind, _ message: String) {
      self.kind = kind
      self.message = message
    }

    /// The sentence.
    public var description: String { message }
  }
}

extension BlockingHTTPClient.Failure {
  /// What curl's result means; `detail` is its own text, `connectErrno` the system's reason for a failed connect.
  init(_ code: CURLcode, to url: String, trust: BlockingHTTPClient.Trust, detail: String, connectErrno: Int32) {
    let reason = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    switch code {
    case CURLE_UNSUPPORTED_PROTOCOL where url.hasPrefix("http://") || url.hasPrefix("https://"):
      // curl's answer to bytes that do not begin like HTTP.
      self.init(.malformed, "the answer of \(url) is not HTTP (\(reason))")
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
      self.init(.badRequest, "\"\(url)\" is not an http or https URL (\(reason))")
    case CURLE_COULDNT_RESOLVE_HOST:
      self.init(.unknownHost, "the host of \(url) has no address (\(reason))")
    case CURLE_COULDNT_CONNECT where connectErrno == ECONNREFUSED:
      self.init(.connectionRefused, "nothing listens at \(url): connection refused")
    case CURLE_COULDNT_CONNECT:
      self.init(.unreachable, "cannot connect to \(url) (\(reason))")
    case CURLE_PEER_FAILED_VERIFICATION:
      self.init(.untrusted, "the certificate of \(url) is not trusted: \(reason); \(Self.trusted(trust))")
    case CURLE_SSL_CACERT_BADFILE:
      self.init(.badTrust, "cannot use the trusted certificates (\(reason)); \(Self.trusted(trust))")
    case CURLE_SSL_CONNECT_ERROR:
      self.init(.handshake, "the TLS handshake with \(url) failed (\(reason))")
    case CURLE_OPERATION_TIMEDOUT:
      self.init(.timeout, "\(url) did not answer in time (\(reason))")
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      self.init(.connectionLost, "the connection to \(url) ended before the answer did (\(reason))")
    default:
      self.init(.malformed, "the answer of \(url) cannot be used (\(reason))")
    }
  }

  private static func trusted(_ trust: BlockingHTTPClient.Trust) -> String {
    switch trust {
    case .system: "trusted are the system's authorities"
    case .file(let path): "trusted are the certificates in \(path)"
    case .pem: "trusted are the certificates given as text"
    }
  }
}
