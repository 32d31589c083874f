import Primitives
import Push
import Security

// The ids that the gateway itself makes for its answers.
extension ProviderLoop {
  /// Apple's own form: 128 random bits in upper case.
  func makeID() -> PushID { PushID(high: ids.next(), low: ids.next()) }

  /// The ids of an answer. Apple gives an `apns-unique-id`, random and in lower case, in the development environment alone.
  func answerIDs(_ id: PushID, _ environment: PushEnvironment?) -> AnswerWriter.IDs {
    guard environment == .development else { return AnswerWriter.IDs(id: id) }
    return AnswerWriter.IDs(id: id, uniqueID: PushID(high: ids.next(), low: ids.next(), upperCase: 0))
  }
}
