public import HTTP2

extension MalformedRequest {
  /// What its sender can do about it, as a sentence.
  public var advice: String {
    switch fault {
    case .trailingSpace where field == "authorization":
      "Is your token empty? A command that should print it and fails, such as widgetpush token, leaves nothing behind the word bearer: run it by itself, and read what it says."
    case .leadingSpace, .trailingSpace:
      "Take the white space away; the variable that should stand there may be empty."
    case .controlCharacter: "Take line ends and the like out of the value: what is read from a file often ends with one."
    case .uppercaseName: "Write the name in lower case; most HTTP/2 libraries do so by themselves."
    case .badName: "Look for a space, a colon or a line end in the name, or for a name that is empty."
    case .connectionField: "Leave it out: HTTP/2 frames bodies by itself, and of te takes trailers alone."
    case .unknownPseudoField, .latePseudoField, .trailingPseudoField, .missingField:
      "Send :method, :scheme and :path, each once, ahead of all other fields; a proxy that translates HTTP/1.1 may have left one out."
    case .repeatedField: "Send it once: look for a library or proxy that adds what your code sets as well."
    case .badValue where field == ":path": "Begin the path with /, and look for a space or line end in the variable that fills it."
    case .badValue: "Look at what fills it: a space or another character is in it that it cannot have."
    case .bodyLength: "Leave content-length to the HTTP library, or count the body's bytes, which are not its characters."
    case .unendedTrailers: "Set END_STREAM on the trailers."
    case .listTooLarge: "Send fewer or shorter headers: those of a request may take 8,000 bytes, at Apple's servers too."
    }
  }
}
