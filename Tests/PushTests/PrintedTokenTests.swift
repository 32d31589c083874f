import Push
import Testing

/// Tokens as people have printed them: what can be put right is, and of the rest it is told why it cannot.
@Suite("Printed tokens") struct PrintedTokenTests {
  private static let whole = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"

  @Test(arguments: [
    "<740f4707 bebcf74f 9b7c25d4 8e335894 5f6aa01d a5ddb387 462c7eaf 61bb78ad>",
    "Optional(<740f4707 bebcf74f 9b7c25d4 8e335894 5f6aa01d a5ddb387 462c7eaf 61bb78ad>)",
  ]) func theOldFormIsPutRight(printed: String) {
    #expect(DeviceToken.complaint(aboutPrinted: printed)?.hasSuffix(": \(Self.whole)") == true)
  }

  /// A value that short is printed whole.
  @Test func theNewFormIsPutRightWhereItIsWhole() {
    let complaint = DeviceToken.complaint(aboutPrinted: "{length = 8, bytes = 0x740f4707bebcf74f}")
    #expect(complaint?.hasSuffix(": 740f4707bebcf74f") == true)
  }

  @Test(arguments: [
    "{length = 32, bytes = 0x740f4707 bebcf74f 9b7c25d4 8e335894 ... 462c7eaf 61bb78ad }",
    "{length = 32, bytes = 0x740f4707 bebcf74f … 61bb78ad }", "<740f4707 bebcf74f ... 61bb78ad>", "32 bytes", "Optional(32 bytes)",
  ]) func whatIsCutIsToldSo(printed: String) {
    let complaint = DeviceToken.complaint(aboutPrinted: printed)
    #expect(complaint?.hasSuffix("with token.map { String(format: \"%02x\", $0) }.joined()") == true, "\(complaint ?? "")")
  }

  @Test(arguments: ["", "a1b2", "<>", "<xyz>", "{}", "{\"aps\":1}", "bytes", "a bytes", "32  bits", "Optional()", "fcm:token"])
  func whatIsNoPrintedTokenIsLeftToOthers(text: String) {
    #expect(DeviceToken.complaint(aboutPrinted: text) == nil)
  }
}
