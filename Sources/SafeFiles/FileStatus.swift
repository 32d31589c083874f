import Glibc

/// What the system says of a file or a folder, and what follows from it.
struct FileStatus: Hashable {
  var mode: mode_t
  var owner: uid_t

  init(mode: mode_t, owner: uid_t) {
    self.mode = mode
    self.owner = owner
  }

  /// That of an open file.
  init(of descriptor: Int32) throws(FileRefusal) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .system() }
    self.init(mode: status.st_mode, owner: status.st_uid)
  }

  /// That of what is at the path.
  init(at path: String, followingLink: Bool) throws(FileRefusal) {
    var status = stat()
    guard unsafe (followingLink ? stat(path, &status) : lstat(path, &status)) == 0 else { throw .system() }
    self.init(mode: status.st_mode, owner: status.st_uid)
  }

  private var kind: mode_t { mode & S_IFMT }
  var isLink: Bool { kind == S_IFLNK }

  /// Why it is no file; nil where it is one.
  var kindComplaint: String? {
    switch kind {
    case S_IFREG: nil
    case S_IFDIR: "it is a folder, not a file"
    case S_IFIFO: "it is a named pipe, not a file"
    case S_IFSOCK: "it is a socket, not a file"
    case S_IFCHR, S_IFBLK: "it is a device, not a file"
    default: "it is not a file"
    }
  }

  /// Why `user` cannot trust it to be theirs; nil where it is.
  func ownerComplaint(_ user: uid_t, what: String) -> String? {
    owner == user
      ? nil : "\(what) belongs to the user \(owner), and this process is the user \(user)'s; run it as that user, or name another"
  }

  /// Why a folder is not one for `user`'s files; nil where it is.
  func folderComplaint(_ user: uid_t) -> String? {
    guard kind == S_IFDIR else { return kindComplaint.map { "\($0); a folder is wanted" } ?? "it is a file, not a folder" }
    if let complaint = ownerComplaint(user, what: "the folder") { return complaint + ", such as a new one within it" }
    guard mode & 0o002 == 0 else {
      let digits = String(mode & 0o7777, radix: 8)
      return
        "everybody may put files in the folder (its permissions are \(digits)); chmod o-w it, or name another, such as a new one within it"
    }
    return nil
  }
}
