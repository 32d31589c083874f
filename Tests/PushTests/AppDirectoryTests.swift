import Push
import Testing

@Suite("App directory") struct AppDirectoryTests {
  @Test(arguments: [0, 1, 2, 3, 100]) func findsEveryAppAndNoOther(count: Int) {
    let directory = AppDirectory((0..<count).map { AppDirectory.App(bundleID: "com.example.app\($0)") })
    #expect(directory.count == count)
    for index in 0..<count {
      #expect(directory.index(of: "com.example.app\(index)") == index)
      #expect(directory[index].bundleID == "com.example.app\(index)")
    }
    for stranger in ["", "com.example.app", "com.example.app\(count)", "COM.EXAMPLE.APP0", "com.example.app0 "] {
      #expect(directory.index(of: stranger) == nil)
    }
  }

  @Test func anyAppStandsForTheRest() {
    var policy = AppPolicy()
    policy.validation = .apple
    let any = AppDirectory.App(bundleID: "", teamID: nil, policy: policy, developmentUpstream: "mock")
    let directory = AppDirectory([AppDirectory.App(bundleID: "com.example.app", teamID: "ABCDE12345")], anyApp: any)
    #expect(directory.index(of: "com.example.app") == 0)
    #expect(directory.index(of: "com.example.other") == 1)
    #expect(directory.policy(at: 0).validation == .strict)
    #expect(directory.policy(at: 1).validation == .apple)
    #expect(directory[1].upstream(.development) == "mock")
    #expect(directory[1].upstream(.production) == nil)
    #expect(directory.bundleIDs == ["com.example.app"])
    let bytes = Array("com.example.other".utf8)
    #expect(directory.listedIndex(of: bytes.span.bytes) == nil)
  }
}
