import Glibc

/// Folders in which we keep what is nobody else's affair.
public enum SafeFolder {
  /// Makes a folder and those around it, for us alone; throws where something is there in which others can put files, or that is another's.
  ///
  /// - Parameter mayBeLink: Whether a symbolic link to a folder will do, since somebody has named it on purpose.
  public static func make(_ path: String, mayBeLink: Bool = true) throws(FileRefusal) {
    try makeAll(path)
    try check(path, mayBeLink: mayBeLink)
  }

  /// Throws why what is at the path is no folder for our files.
  public static func check(_ path: String, mayBeLink: Bool = true) throws(FileRefusal) {
    if !mayBeLink, try FileStatus(at: path, followingLink: false).isLink {
      throw FileRefusal("it is a symbolic link, which is not followed here; name the folder that it leads to, or remove it")
    }
    if let complaint = try FileStatus(at: path, followingLink: true).folderComplaint(geteuid()) { throw FileRefusal(complaint) }
  }

  private static func makeAll(_ path: String) throws(FileRefusal) {
    if unsafe mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    let code = errno
    guard code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { throw .system(code) }
    try makeAll(String(path[..<slash]))
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .system() }
  }
}
