import Foundation
import Primitives
import Telemetry
import Testing

@Suite("Metrics") struct MetricTests {
  /// Every combination of two dimensions has an index of its own, and its labels say which one it is.
  @Test func indexSpaceIsDense() {
    let counter = Counter(
      "answers_total", help: "Answers.",
      dimensions: [
        Dimension("type", ["widgets", "alert", "controls"]),
        Dimension(["status", "reason"], [["200", ""], ["400", "BadTopic"]]),
      ])
    var seen: Set<Int> = []
    for type in 0..<3 {
      for outcome in 0..<2 {
        let index = counter.index(type, outcome)
        seen.insert(index)
        counter.add(UInt64(10 * type + outcome + 1), at: index)
      }
    }
    #expect(seen == Set(0..<6))
    let text = Exposition.text(of: [counter])
    #expect(
      text == """
        # HELP answers_total Answers.
        # TYPE answers_total counter
        answers_total{type="widgets",status="200",reason=""} 1
        answers_total{type="widgets",status="400",reason="BadTopic"} 2
        answers_total{type="alert",status="200",reason=""} 11
        answers_total{type="alert",status="400",reason="BadTopic"} 12
        answers_total{type="controls",status="200",reason=""} 21
        answers_total{type="controls",status="400",reason="BadTopic"} 22

        """)
  }

  @Test func uncountedCombinationsAreLeftOut() {
    let plain = Counter("plain_total", help: "Plain.")
    let family = Counter("family_total", help: "Family.", dimensions: [Dimension("a", ["x", "y"])])
    family.add(at: 1)
    #expect(
      Exposition.text(of: [plain, family]) == """
        # HELP plain_total Plain.
        # TYPE plain_total counter
        plain_total 0
        # HELP family_total Family.
        # TYPE family_total counter
        family_total{a="y"} 1

        """)
  }

  /// Writers with shards of their own and writers without: nothing is lost.
  @Test func concurrentCountsAddUp() {
    let counter = Counter("hits_total", help: "Hits.", dimensions: [Dimension("a", ["x", "y", "z"])], shards: 3)
    DispatchQueue.concurrentPerform(iterations: 6) { worker in
      for _ in 0..<20_000 {
        if worker < 3 { counter.add(at: 1, shard: worker) } else { counter.add(at: 1) }
      }
    }
    #expect(counter.value(at: 1) == 120_000)
    #expect(counter.value(at: 0) == 0)
    #expect(counter.value(at: 2) == 0)
  }

  @Test func labelsAndHelpAreEscaped() {
    let counter = Counter("odd_total", help: "back\\slash\nline", dimensions: [Dimension("v", ["q\"b\\n\n"])])
    counter.add()
    #expect(
      Exposition.text(of: [counter])
        == "# HELP odd_total back\\\\slash\\nline\n# TYPE odd_total counter\nodd_total{v=\"q\\\"b\\\\n\\n\"} 1\n")
  }

  @Test func gaugesAreReadWhenAsked() {
    let gauges: [any Metric] = [
      Gauge("waiting_pushes", help: "Waiting.") { 3 },
      Gauge("queue", help: "Queue.", dimension: Dimension("loop", ["0", "1"])) { [0.5, -2] },
      CounterReading("commits_total", help: "Commits.") { 1 << 40 },
      CounterReading("ends_total", help: "Ends.", dimension: Dimension("how", ["well"])) { [7] },
    ]
    #expect(
      Exposition.text(of: gauges) == """
        # HELP waiting_pushes Waiting.
        # TYPE waiting_pushes gauge
        waiting_pushes 3
        # HELP queue Queue.
        # TYPE queue gauge
        queue{loop="0"} 0.5
        queue{loop="1"} -2
        # HELP commits_total Commits.
        # TYPE commits_total counter
        commits_total 1099511627776
        # HELP ends_total Ends.
        # TYPE ends_total counter
        ends_total{how="well"} 7

        """)
  }

  @Test func histogramBucketsAreCumulativeAndInclusive() {
    let histogram = Histogram(
      "wait_seconds", help: "Wait.", dimensions: [Dimension("kind", ["a", "b"])], bounds: [.milliseconds(1), .seconds(1)], shards: 1)
    for span in [TimeSpan.milliseconds(1), .milliseconds(500), .seconds(1), .seconds(2), TimeSpan(nanoseconds: -5)] {
      histogram.observe(span, at: histogram.index(1), shard: 0)
    }
    histogram.observe(.milliseconds(500), at: 1)
    #expect(histogram.count(at: 1) == 6)
    #expect(
      Exposition.text(of: [histogram]) == """
        # HELP wait_seconds Wait.
        # TYPE wait_seconds histogram
        wait_seconds_bucket{kind="b",le="0.001"} 2
        wait_seconds_bucket{kind="b",le="1"} 5
        wait_seconds_bucket{kind="b",le="+Inf"} 6
        wait_seconds_sum{kind="b"} 4.001
        wait_seconds_count{kind="b"} 6

        """)
  }
}
