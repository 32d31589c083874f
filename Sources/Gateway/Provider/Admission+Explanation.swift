import Push
import Storage

extension Admission {
  /// What the admission means for the push, as one sentence.
  var explanation: String {
    switch self {
    case .unsettled, .forwarded: disposition.remedy.happened
    case .merged(let id): "The push \(id) waits for the same token and stands for this one."
    case .waiting(_, let cause), .ended(_, let cause), .refused(_, let cause, _, _):
      cause == .none ? disposition.remedy.happened : cause.remedy.happened
    }
  }
}
