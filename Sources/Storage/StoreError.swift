public import Push

/// What keeps the store from doing what was asked; each case makes a sentence that says what to do.
public enum StoreError: Error, Hashable, Sendable {
  /// Another process has the store open.
  case locked(path: String, holder: String)
  /// The file was written by a later version.
  case laterSchema(path: String, found: Int, supported: Int)
  /// The file was written by an earlier version, whose records this one does not read.
  case earlierSchema(path: String, found: Int, supported: Int)
  /// The file is no store of ours, or its content contradicts itself.
  case corrupt(path: String, String)
  /// There was a store at `path`, as what stands beside it shows, and it is gone.
  case missing(path: String, marks: [String])
  /// A file of the store that is open has been removed, or another one has been put in its place.
  case displaced(path: String, isReplaced: Bool)
  /// The engine could not read or write.
  case engine(String)
  /// The store takes no writes at present.
  case notReady(String)
  /// As many tokens are registered as fit.
  case full(registrations: Int)
  /// The app has its share of the registrations.
  case shareUsedUp(ShareRefusal)
  /// It is another app's by now, which the caller does not see.
  case foreign
  /// As many use it in this way as may.
  case busy(String)
  /// The store has been stopped.
  case stopped
}

extension StoreError: CustomStringConvertible {
  /// The sentence.
  public var description: String {
    switch self {
    case .locked(let path, let holder):
      "\(path) is in use by \(holder); stop it, or give this gateway a store of its own"
    case .laterSchema(let path, let found, let supported):
      "\(path) has schema \(found) and this build knows \(supported); run the version that wrote it, or a later one"
    case .earlierSchema(let path, let found, let supported):
      "\(path) has schema \(found), which this build, of schema \(supported), cannot read; move it away to begin anew"
    case .corrupt(let path, let what): "\(path) cannot be used: \(what); restore it from a copy, or move it away to begin anew"
    case .missing(let path, let marks):
      "\(path) is missing, and a store was there: \(marks.joined(separator: " and ")) is left of it; restore it from a copy, or begin anew with rm -f \(marks.joined(separator: " "))"
    case .displaced(let path, let isReplaced):
      "\(path) was \(isReplaced ? "replaced" : "removed or moved away") while the store was open, so that nothing written now would be found again; move it back, or restart the gateway, which says what it finds"
    case .engine(let what): "the store cannot read or write: \(what)"
    case .notReady(let why): "the store takes no writes now: \(why)"
    case .full(let registrations): "\(registrations) tokens are registered, which is the most; remove some first"
    case .shareUsedUp(let refusal):
      "\(refusal.sentence("the registrations that fit")); remove tokens that are no longer used, or have an access token of all apps register"
    case .foreign: "the token is registered for another app, which this access token does not see"
    case .busy(let why): why
    case .stopped: "the store has been stopped"
    }
  }
}
