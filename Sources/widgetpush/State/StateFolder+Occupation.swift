extension StateFolder {
  /// What serves from a state folder, of which there is one of each: `credentials.json` has room for one address.
  enum Server: String, CaseIterable {
    case gateway, device
  }

  /// Has the folder for this process alone, as far as these servers are concerned, until the locks go.
  ///
  /// - Throws: Who has it, and what to do.
  func occupy(_ servers: [Server]) throws -> [RunLock] {
    try make()
    return try servers.map { server in
      try RunLock(file("\(server).lock")) { process in
        let stop = process.isEmpty ? "stop that one first" : "kill \(process) stops it"
        return CommandError(
          "a \(server) runs with the state folder \(path) already\(process.isEmpty ? "" : " (process \(process))"): widgetpush env prints its addresses, \(stop); a second one needs another --state-dir and other ports"
        )
      }
    }
  }
}
