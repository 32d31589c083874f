extension String {
  /// The text with the user and password of every URL in it masked (RFC 3986 section 3.2.1): a secret that somebody has written where none
  /// belongs must not stand in what is printed about it.
  var maskingURLPasswords: String {
    guard contains("@"), contains("://") else { return self }
    var masked = ""
    var rest = self[...]
    while let start = rest.firstRange(of: "://") {
      masked += rest[..<start.upperBound]
      rest = rest[start.upperBound...]
      // A password may have an at sign in it, and so may be everything up to the last one.
      let authority = rest.prefix { !"/?#\" \n".contains($0) }
      guard let end = authority.lastIndex(of: "@") else { continue }
      masked += "\(ConfigurationTrace.mask)@"
      rest = rest[rest.index(after: end)...]
    }
    return masked + rest
  }
}
