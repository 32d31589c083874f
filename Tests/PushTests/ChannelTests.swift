import Push
import Testing

@Suite("Channel ids") struct ChannelTests {
  @Test(arguments: [
    ("dHN0LXNyY2gtY2hubA==", "is base 64 of 13 bytes"), ("match of the day", "is no base 64"), ("", "is base 64 of 0 bytes"),
    ("aMs2y8fFEe8AAPIAM4gHog", "lacks the == at its end"), ("-Ms2y8fFEe8AAPIAM4gHog==", "has - or _ where standard base 64 has + and /"),
    ("aMs2y8fFEe8AAPIAM4gHoh==", "ends in a digit with bits that no byte needs"), ("aMs2y8fFEe8AAPIAM4gH", "is base 64 of 15 bytes"),
  ]) func whatIsWrongWithOne(text: String, fault: String) { #expect(ChannelID.fault(of: text) == fault) }

  @Test func anIDHasNoFault() { #expect(ChannelID.fault(of: "aMs2y8fFEe8AAPIAM4gHog==") == nil) }
}
