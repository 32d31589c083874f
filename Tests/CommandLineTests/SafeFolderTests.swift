import Foundation
import Testing

@testable import widgetpush

/// A state folder may have come with something that others made, such as a repository that was cloned.
@Suite("A state folder from elsewhere") struct SafeFolderTests {
  private let folder: TemporaryFolder
  private let precious: String

  init() throws {
    folder = try TemporaryFolder()
    precious = folder.path + "/precious"
    try Files.write("precious", to: precious, mode: 0o644)
    try Files.makeFolder(folder.state.path)
  }

  private func expectUntouched() throws {
    #expect(try Files.read(precious) == "precious" && Files.mode(precious) == 0o644)
  }

  @Test(arguments: StateFolder.Server.allCases) func aLockThatIsALinkIsNotFollowed(server: StateFolder.Server) throws {
    symlink(precious, folder.state.file("\(server).lock"))
    let error = try #require(#expect(throws: FileError.self) { _ = try folder.state.occupy([server]) })
    #expect("\(error)".hasPrefix("cannot lock \(folder.state.file("\(server).lock")): it is a symbolic link"), "\(error)")
    try expectUntouched()
  }

  @Test func theLockOfTheFilesIsNotFollowedEither() throws {
    symlink(precious, folder.state.file(".lock"))
    #expect(throws: FileError.self) { _ = try DevState.prepare(folder.state, now: Machine.now) }
    #expect(throws: FileError.self) { _ = try folder.state.updateCredentials { _ in } }
    try expectUntouched()
  }

  /// What is put in place whole takes the place of a link, and leaves alone what that led to.
  @Test(arguments: [".gitignore", "access.json", "clock.json", "keys.json", "store.json", "apps.json"]) func whatIsWrittenReplacesALink(
    name: String
  ) throws {
    symlink(precious, folder.state.file(name))
    // The name that it has while it is written may be a link, too.
    symlink(precious, folder.state.file("\(name).\(getpid())"))
    try Files.write("ours", to: folder.state.file(name), mode: 0o600)
    #expect(try Files.read(folder.state.file(name)) == "ours" && Files.mode(folder.state.file(name)) == 0o600)
    try expectUntouched()
  }

  @Test func recordingsAndExportsFollowNoLink() throws {
    let link = folder.path + "/link"
    symlink(folder.path + "/elsewhere", link)
    #expect(throws: FileError.self) { _ = try RecordingFile(link) }
    #expect(!Files.exists(folder.path + "/elsewhere"))
    symlink(precious, "\(link).\(getpid())")
    let output = try OutputFile(link)
    try output.write("{}\n")
    try output.finish()
    #expect(try Files.read(link) == "{}\n" && Files.mode(link) == 0o600)
    try expectUntouched()
  }

  @Test func aFolderThatIsALinkOrForAllIsRefused() throws {
    let link = StateFolder(folder.path + "/link")
    symlink(folder.state.path, link.path)
    for body in [
      { _ = try link.occupy([.gateway]) }, { _ = try DevState.prepare(link, now: Machine.now) },
    ] as [() throws -> Void] {
      let error = try #require(#expect(throws: FileError.self) { try body() })
      #expect("\(error)".contains("\(link.path): it is a symbolic link"), "\(error)")
    }
    chmod(folder.state.path, 0o777)
    let error = try #require(#expect(throws: FileError.self) { _ = try folder.state.occupy([.gateway]) })
    #expect("\(error)".contains("everybody may put files in the folder") && "\(error)".contains("chmod o-w"), "\(error)")
    #expect(try Files.names(in: folder.state.path) == [])
  }

  /// A pipe in the place of a file is told of at once, instead of waiting for its other end.
  @Test func aPipeIsNoFile() throws {
    let pipe = folder.path + "/pipe"
    mkfifo(pipe, 0o600)
    for body in [
      { _ = try Files.read(pipe) }, { _ = try LineReader(pipe) }, { _ = try RecordingFile(pipe) }, { try Files.makePrivate(pipe) },
      { _ = try ProviderKeys.readKey(pipe) }, { _ = try RecordingReader(pipe) },
    ] as [() throws -> Void] {
      let error = try #require(#expect(throws: FileError.self) { try body() })
      #expect("\(error)".contains("named pipe") || "\(error)".contains("No such device"), "\(error)")
    }
  }
}
