import Primitives
import Push
import Testing

/// What is advised goes by what the device says.
@Suite("Remarks on applied pushes") struct AppliedRemarkTests {
  private let remark = "aps.content-state.eta is a Unix time; Swift's Date shows 2057, send 817692800"

  @Test func aRemarkIsFoundBehindTheActivity() {
    #expect(AppliedRemark.find(in: "activity Ride-1; \(remark)") == remark)
    for detail in [
      "", "activity Ride-1", "; aps.content", "activity Ride-1; no schema is known for Ride, so its content-state was not checked",
    ] {
      #expect(AppliedRemark.find(in: detail) == nil)
    }
  }

  @Test func aRemarkOnAttributesIsFoundAsWell() {
    let own = "aps.attributes.when is a Unix time; Swift's Date shows 2057, send 817692800"
    #expect(AppliedRemark.find(in: "activity Ride-1; \(own)") == own)
    #expect(AppliedRemark.find(in: "activity Ride-1; \(own); and \(remark)") == "\(own); and \(remark)")
    #expect(Cause.started.advice(detail: "activity Ride-1; \(own)")?.contains(own) == true)
  }

  @Test(arguments: [Cause.started, .updated, .ended]) func theAdviceIsThatOfTheRemark(cause: Cause) {
    let advice = cause.advice(detail: "activity Ride-1; \(remark)")
    #expect(advice == "The activity shows something else than was meant; correct this: \(remark).")
    #expect(cause.advice(detail: "activity Ride-1") == nil)
  }

  @Test func whatDoesNotDecodeIsCorrectedAsTheDetailSays() {
    #expect(
      Cause.contentStateNotDecodable.advice(detail: "aps.content-state.stops is missing")
        == "Correct this: aps.content-state.stops is missing.")
    for cause in [Cause.attributesNotDecodable, .dateMisread] { #expect(cause.advice(detail: remark) == "Correct this: \(remark).") }
    #expect(Cause.contentStateNotDecodable.advice(detail: "") == nil)
    #expect(Cause.staleTimestamp.advice(detail: "x; \(remark)") == nil)
  }
}
