import Reactor

/// A call of a route that asks for the scope `admin`, as an audit has it: carried out or not.
public struct AdminCall: Hashable, Sendable {
  /// The name of the access token; empty for a caller that has shown none that is known.
  public let caller: String
  /// The method.
  public let method: HTTPMethod
  /// The path, cut after `pathBytesMax` bytes.
  public let path: String
  /// The status of the answer.
  public let status: Int
  /// The peer's address; empty when it is not known.
  public let peer: String
  /// What the error's message says; empty where there was none.
  public let problem: String

  /// The bytes of a path that are kept.
  public static let pathBytesMax = 256

  /// The call that `request` made, with its answer.
  init(_ request: HTTPRequest, caller: String, status: Int, problem: String) {
    self.caller = caller
    method = request.method
    path = String(decoding: request.path.utf8.prefix(Self.pathBytesMax), as: UTF8.self)
    self.status = status
    peer = request.peer.map { "\($0)" } ?? ""
    self.problem = String(decoding: problem.utf8.prefix(Self.pathBytesMax), as: UTF8.self)
  }
}
