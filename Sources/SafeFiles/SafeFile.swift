public import Glibc

/// The ways in which files are opened and made, so that nobody who can put something at a path has us write elsewhere or wait for ever.
///
/// A folder may come from others: with a cloned repository, an archive, or on a disk that is shared. A symbolic link in it under the name of
/// a file of ours would have us overwrite what it leads to, a named pipe would have us wait for its other end, and a file that somebody
/// else owns would be theirs to read. So what is written is made anew (`O_EXCL`) or opened without following a link (`O_NOFOLLOW`) and then
/// looked at; what is read may be reached through links, since those who name a file name where it lies, but it must be a file.
///
/// Every descriptor is the caller's to close, and none outlives `exec`.
public enum SafeFile {
  /// Opens a regular file for reading.
  ///
  /// `/dev/stdin` and `/dev/fd/N`, which are what the caller has open already, may be anything.
  public static func openToRead(_ path: String) throws(FileRefusal) -> Int32 {
    let isOpenAlready = path == "/dev/stdin" || ["/dev/fd/", "/proc/self/fd/"].contains { path.hasPrefix($0) }
    // Without `O_NONBLOCK`, opening a named pipe waits for a writer, and a terminal would become the process's own without `O_NOCTTY`.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (isOpenAlready ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw .system() }
    guard !isOpenAlready else { return descriptor }
    return try checked(descriptor) { $0.kindComplaint }
  }

  /// Makes a file that must not be there, with exactly these permissions, and opens it for writing.
  public static func create(_ path: String, mode: mode_t = 0o600) throws(FileRefusal) -> Int32 {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .system() }
    return try permitting(descriptor, mode)
  }

  /// Makes a file that is given its real name later, as `create` does. One that a crash has left under that name goes first.
  public static func createTemporary(_ path: String, mode: mode_t = 0o600) throws(FileRefusal) -> Int32 {
    do throws(FileRefusal) { return try create(path, mode: mode) } catch {
      guard error.code == EEXIST, unsafe unlink(path) == 0 else { throw error }
      return try create(path, mode: mode)
    }
  }

  /// Opens a file of ours, which is made for us alone where it is missing: a lock, or what is added to. A link is not followed.
  ///
  /// - Parameter flags: Such as `O_RDWR`, or `O_WRONLY | O_APPEND`.
  public static func openOwn(_ path: String, _ flags: Int32) throws(FileRefusal) -> Int32 {
    try openOwn(path, flags | O_CREAT, user: geteuid())
  }

  /// Takes all permissions of others from a file of ours; nothing where there is none.
  public static func makePrivate(_ path: String) throws(FileRefusal) {
    let descriptor: Int32
    do throws(FileRefusal) { descriptor = try openOwn(path, O_RDONLY, user: geteuid()) } catch {
      if error.code == ENOENT { return }
      throw error
    }
    defer { close(descriptor) }
    let own = try FileStatus(of: descriptor).mode & 0o700
    guard fchmod(descriptor, own) == 0 else { throw .system() }
  }

  private static func openOwn(_ path: String, _ flags: Int32, user: uid_t) throws(FileRefusal) -> Int32 {
    let descriptor = unsafe open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let code = errno
      throw code == ELOOP ? FileRefusal("it is a symbolic link, which is not followed here; remove it") : .system(code)
    }
    return try checked(descriptor) { status in status.kindComplaint ?? status.ownerComplaint(user, what: "it") }
  }

  private static func checked(_ descriptor: Int32, _ complaint: (FileStatus) -> String?) throws(FileRefusal) -> Int32 {
    do throws(FileRefusal) {
      if let complaint = complaint(try FileStatus(of: descriptor)) { throw FileRefusal(complaint) }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// The permissions of `open` are cut by the umask.
  private static func permitting(_ descriptor: Int32, _ mode: mode_t) throws(FileRefusal) -> Int32 {
    guard fchmod(descriptor, mode) != 0 else { return descriptor }
    let refusal = FileRefusal.system()
    close(descriptor)
    throw refusal
  }
}
