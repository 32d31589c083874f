import Primitives
import Push
import Rules
import Storage

extension Batch {
  /// Asks whether the content-state of the update that is added next is of its activity's type.
  func ask(_ rules: RequestRules, _ push: ParsedPush, body: RawSpan, now: Instant) {
    let doubts = rules.contentStateDoubts(push, body: body, now: now)
    questions.append(
      ContentStateQuestion(
        admit: admits.count, isStrict: rules.apps.policy(at: push.app).validation == .strict,
        verdicts: doubts.map { ($0.attributesType, $0.problem) }))
  }
}
