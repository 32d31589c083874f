import Push
import Testing

@Suite("Remedies") struct RemedyTests {
  private static let remedies: [(of: String, Remedy)] =
    Reason.allCases.map { ("reason \($0)", $0.remedy) } + Cause.allCases.map { ("cause \($0)", $0.remedy) }
    + Disposition.allCases.map { ("disposition \($0)", $0.remedy) }

  private static var sentences: [(of: String, String)] {
    remedies.flatMap { [($0.of, $0.1.happened), ($0.of, $0.1.advice)] }
      + PushWarning.allCases.map { ("warning \($0)", $0.sentence) }
  }

  @Test func everySentenceIsOne() {
    for (of, sentence) in Self.sentences {
      #expect(sentence.count > 20, "\(of)")
      #expect(sentence.hasSuffix("."), "\(of): \(sentence)")
      #expect(!sentence.contains(". "), "\(of) has more than one sentence: \(sentence)")
      #expect(!sentence.contains("  ") && !sentence.contains("\n"), "\(of): \(sentence)")
      #expect(sentence.first?.isLowercase == false || sentence.hasPrefix("a"), "\(of): \(sentence)")
    }
  }

  @Test func everySentenceIsShort() {
    for (of, sentence) in Self.sentences { #expect(sentence.count <= 240, "\(of) has \(sentence.count) characters") }
  }

  @Test func noSentenceStandsTwice() {
    var seen: [String: String] = [:]
    for (of, sentence) in Self.sentences {
      if let other = seen.updateValue(of, forKey: sentence) { Issue.record("\(of) and \(other) say the same: \(sentence)") }
    }
  }

  @Test func theMostTellingRemedyWins() {
    #expect(Remedy(.refused, cause: .none, reason: .badTopic) == Reason.badTopic.remedy)
    #expect(Remedy(.failed, cause: .upstreamRefused, reason: .payloadTooLarge) == Reason.payloadTooLarge.remedy)
    #expect(Remedy(.failed, cause: .upstreamSuspectsToken, reason: .badDeviceToken) == Cause.upstreamSuspectsToken.remedy)
    #expect(Remedy(.accepted, cause: .none) == Disposition.accepted.remedy)
    #expect(Remedy(.accepted, cause: .none).certainty == .cannotSee)
    #expect(Remedy(.ignored, cause: .staleTimestamp) == Cause.staleTimestamp.remedy)
  }

  @Test func warningsAreASet() {
    #expect(PushWarning.allCases.count <= 64)
    var warnings: PushWarnings = []
    for warning in PushWarning.allCases {
      #expect(!warnings.contains(warning))
      warnings.insert(warning)
      #expect(warnings.contains(warning))
    }
    #expect(warnings.all == PushWarning.allCases)
  }

  @Test func theFirstRefusedWarningIsFound() {
    for warning in PushWarning.allCases {
      let set: PushWarnings = [PushWarnings(warning), PushWarnings(.customKeys)]
      #expect(set.firstRefused == (warning.isRefusedInStrict ? warning : nil))
    }
    #expect(PushWarnings([PushWarnings(.eventMissing), PushWarnings(.apsMissing)]).firstRefused == .apsMissing)
  }
}
