import Foundation

/// The interpreter that scripts/setup installs, whatever else is in PATH.
let python = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") ? "/usr/bin/python3" : "python3"

/// The top of the repository.
let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().path

/// One of the scripts that speak HTTP/2 by hand.
func wireScript(_ name: String) -> String { repository + "/Tests/Support/wire/" + name }
