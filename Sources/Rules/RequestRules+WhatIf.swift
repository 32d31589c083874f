import Primitives
import Push

extension RequestRules {
  /// The verdict on a request that nobody sends, so that nobody has to prove who sends it: every rule but those of provider tokens and
  /// certificates. Ranges of the push count from the start of `headers`.
  public func judge(_ fields: RequestFields, headers: RawSpan, body: RawSpan, time: RequestTime) -> Verdict {
    do throws(Violation) {
      let path = try PathRule.check(fields.path, headers)
      var topic = TopicMemory()
      var payload = PayloadMemory()
      return .push(
        try check(
          fields, headers: headers, path, from: .anyone, body: body, bodyBytesTotal: body.byteCount, time: time, &topic, &payload))
    } catch {
      return .refused(refusal(error, fields, headers: headers))
    }
  }
}
