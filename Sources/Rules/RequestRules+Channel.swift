public import Push

extension RequestRules {
  /// The channel that a start asks to follow, by `aps.input-push-channel` of its body; nil where it names none, or what is no id.
  public static func channel(ofStart body: RawSpan) -> ChannelID? { (try? PayloadFacts(body))?.channel }
}
