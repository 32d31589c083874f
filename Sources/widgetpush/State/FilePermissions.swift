import SafeFiles

extension StateFolder {
  /// The files here that nobody else may read: private keys, and what holds secrets.
  var secretFiles: [String] {
    let names = (try? Files.names(in: path)) ?? []
    return names.filter { name in
      [".p8", ".key"].contains { name.hasSuffix($0) } || ["credentials.json", AccessFile.name].contains(name)
    }.map { file($0) }
  }
}

/// Whether files with secrets are for their owner alone, and their folders are written by nobody else.
enum FilePermissions {
  /// What is said of a file that others than its owner may read or write; nil when it is for the owner alone, or missing.
  static func complaint(about path: String) -> String? { complaint(about: path, holding: "a secret") }

  /// What is said of the files of a state folder and of a store's folder, and of the folders themselves; those that are missing are well.
  static func complaints(about folder: StateFolder, store: String?) -> [String] {
    var complaints = [complaint(aboutFolder: folder.path, mayBeLink: false)]
    complaints += folder.secretFiles.map { complaint(about: $0) }
    if let store {
      complaints.append(complaint(aboutFolder: store, mayBeLink: store != folder.store))
      complaints += ["gateway.sqlite", "gateway.sqlite-wal", "gateway.sqlite-shm", "apps.json", "clock.json", "numbers.key"].map {
        complaint(about: "\(store)/\($0)", holding: "what is sent to whom")
      }
    }
    return complaints.compactMap { $0 }
  }

  private static func complaint(about path: String, holding what: String) -> String? {
    guard let mode = Files.mode(path), mode & 0o077 != 0 else { return nil }
    let digits = String(mode, radix: 8)
    return "\(path) holds \(what) and has the permissions \(digits), so that others can use it; chmod 600 it"
  }

  private static func complaint(aboutFolder path: String, mayBeLink: Bool) -> String? {
    guard let mode = Files.mode(path) else { return nil }
    do throws(FileRefusal) { try SafeFolder.check(path, mayBeLink: mayBeLink) } catch {
      return "\(path) will be refused by a server: \(error)"
    }
    guard mode & 0o020 != 0 else { return nil }
    return "\(path) has the permissions \(String(mode, radix: 8)), so that its group can put files there; chmod go-w it"
  }
}
