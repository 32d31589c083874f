import Foundation
import Testing

@testable import SafeFiles

@Suite("Safe files") struct SafeFileTests {
  private let folder = Folder()

  private func refusal(_ body: () throws -> Void) throws -> FileRefusal { try #require(#expect(throws: FileRefusal.self) { try body() }) }

  /// What stands at the end of a link is neither read for what we would write there, nor emptied, nor given other permissions.
  @Test func whatIsMadeFollowsNoLink() throws {
    let (target, link) = (folder.file("target"), folder.file("link"))
    try Data("precious".utf8).write(to: URL(fileURLWithPath: target))
    chmod(target, 0o644)
    symlink(target, link)
    for way in [
      { close(try SafeFile.openOwn(link, O_RDWR)) }, { close(try SafeFile.openOwn(link, O_WRONLY | O_APPEND)) },
      { try SafeFile.makePrivate(link) },
    ] as [() throws -> Void] { #expect(try refusal(way).description.contains("symbolic link")) }
    #expect(try refusal { close(try SafeFile.create(link)) }.code == EEXIST)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious" && folder.mode("target") == 0o644)
    // A name that is only for the time of writing is taken from whatever has it.
    close(try SafeFile.createTemporary(link))
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
    #expect(try FileStatus(at: link, followingLink: false).kindComplaint == nil)
  }

  /// A link that leads nowhere would have the file made wherever it points.
  @Test func aLinkThatLeadsNowhereMakesNothing() throws {
    let (target, link) = (folder.file("nothing"), folder.file("link"))
    symlink(target, link)
    _ = try refusal { close(try SafeFile.openOwn(link, O_RDWR)) }
    _ = try refusal { close(try SafeFile.create(link)) }
    #expect(access(target, F_OK) != 0)
  }

  @Test func whatIsNoFileIsNotWaitedFor() throws {
    let (pipe, socketPath) = (folder.file("pipe"), folder.file("socket"))
    mkfifo(pipe, 0o600)
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8.prefix($0.count - 1)) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 }
    }
    for (path, kind) in [(pipe, "named pipe"), (folder.path, "folder"), ("/dev/zero", "device"), ("/dev/null", "device")] {
      #expect(try refusal { close(try SafeFile.openToRead(path)) }.description == "it is a \(kind), not a file", "\(path)")
    }
    if isBound { #expect(throws: FileRefusal.self) { close(try SafeFile.openToRead(socketPath)) } }
    // A lock and what is added to are written, so that a pipe would wait for a reader.
    _ = try refusal { close(try SafeFile.openOwn(pipe, O_WRONLY | O_APPEND)) }
    #expect(try refusal { close(try SafeFile.openOwn(pipe, O_RDWR)) }.description.contains("named pipe"))
    #expect(try refusal { close(try SafeFile.openToRead(folder.file("none"))) }.code == ENOENT)
  }

  /// Those who name a file name it where it lies; and what a shell has opened is there already.
  @Test func filesAreReadThroughLinksAndOpenDescriptors() throws {
    let (target, link) = (folder.file("target"), folder.file("link"))
    try Data("text".utf8).write(to: URL(fileURLWithPath: target))
    symlink(target, link)
    let descriptor = try SafeFile.openToRead(link)
    close(descriptor)
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    close(ends[1])
    let again = try SafeFile.openToRead("/dev/fd/\(ends[0])")
    var byte: UInt8 = 0
    #expect(read(again, &byte, 1) == 0, "its end, and no error of a call that would have to wait")
    close(again)
    close(ends[0])
  }

  @Test func permissionsAreThoseAskedFor() throws {
    close(try SafeFile.create(folder.file("made"), mode: 0o644))
    close(try SafeFile.create(folder.file("private")))
    close(try SafeFile.openOwn(folder.file("lock"), O_RDWR))
    #expect(try folder.mode("made") == 0o644 && folder.mode("private") == 0o600 && folder.mode("lock") == 0o600)
    for (mode, own) in [(0o644, 0o600), (0o666, 0o600), (0o440, 0o400), (0o600, 0o600)] as [(mode_t, Int)] {
      chmod(folder.file("made"), mode)
      try SafeFile.makePrivate(folder.file("made"))
      #expect(try folder.mode("made") == own)
    }
    try SafeFile.makePrivate(folder.file("none"))
  }

  @Test func aFileOfSomebodyElseIsNotOurs() {
    let status = FileStatus(mode: S_IFREG | 0o600, owner: 1000)
    #expect(status.ownerComplaint(1000, what: "it") == nil)
    #expect(status.ownerComplaint(0, what: "it")?.contains("belongs to the user 1000, and this process is the user 0's") == true)
  }

  @Test(
    arguments: [
      (S_IFDIR | 0o700, 7, nil), (S_IFDIR | 0o755, 7, nil), (S_IFDIR | 0o775, 7, nil), (S_IFDIR | 0o777, 7, "(its permissions are 777)"),
      (S_IFDIR | 0o1777, 7, "(its permissions are 1777)"), (S_IFDIR | 0o702, 7, "chmod o-w it"),
      (S_IFDIR | 0o700, 8, "belongs to the user 8"), (S_IFDIR | 0o700, 0, "belongs to the user 0"), (S_IFREG | 0o600, 7, "not a folder"),
      (S_IFIFO | 0o600, 7, "a folder is wanted"),
    ] as [(mode_t, uid_t, String?)])
  func aFolderOfOursIsWrittenByNobodyElse(mode: mode_t, owner: uid_t, says: String?) {
    let complaint = FileStatus(mode: mode, owner: owner).folderComplaint(7)
    #expect((complaint == nil) == (says == nil))
    if let says { #expect(complaint?.contains(says) == true, "\(complaint ?? "")") }
  }

  @Test func foldersAreMadeForUsAlone() throws {
    let deep = folder.file("a/b/c")
    try SafeFolder.make(deep)
    #expect(try folder.mode("a") == 0o700 && folder.mode("a/b/c") == 0o700)
    try SafeFolder.make(deep)
    let link = folder.file("link")
    symlink(deep, link)
    try SafeFolder.make(link)
    #expect(try refusal { try SafeFolder.make(link, mayBeLink: false) }.description.contains("symbolic link"))
    chmod(deep, 0o777)
    #expect(try refusal { try SafeFolder.make(deep) }.description.contains("everybody may put files"))
    try Data().write(to: URL(fileURLWithPath: folder.file("file")))
    #expect(try refusal { try SafeFolder.make(folder.file("file")) }.description.contains("not a folder"))
  }
}

/// A folder of a test's own.
private final class Folder: Sendable {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("widgetpush-safe-\(UUID().uuidString)").path

  init() { mkdir(path, 0o700) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func mode(_ name: String) throws -> Int { Int(try FileStatus(at: file(name), followingLink: false).mode & 0o777) }
}
