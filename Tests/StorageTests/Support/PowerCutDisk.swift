import Foundation
import Primitives
import Synchronization

/// A disk whose power can be cut at any write: it knows what has been synced, byte for byte, and what has not.
///
/// It is one of SQLite's file systems (`sqlite3_vfs`): everything goes to the real files, and a copy of each file's content is kept
/// twice, as it was written and as it was last synced. What a cut leaves is the synced content plus any of the sectors written since.
/// `kill -9` cannot show a missing sync, since the kernel keeps what was written; this can.
final class PowerCutDisk: Sendable {
  /// Under which SQLite knows it.
  static let name = "powercut"
  static let shared = PowerCutDisk()

  private struct Image {
    var written: [UInt8] = []
    var synced: [UInt8] = []
    var dirty: [Range<Int>] = []
  }

  private struct State {
    var images: [String: Image] = [:]
    var cuts: [String: Cut] = [:]
  }

  /// Where the power will be cut, and what it left.
  private struct Cut {
    var writesLeft: Int
    var generator: SplitMix64
    var leavings: [String: [UInt8]]?
  }

  private let state = Mutex(State())

  private init() { registerPowerCutFileSystem() }

  /// Cuts the power of the store in `folder` in the midst of its `writes`th write from now.
  func cut(_ folder: Folder, after writes: Int, seed: UInt64) {
    state.withLock { $0.cuts[folder.path] = Cut(writesLeft: writes, generator: SplitMix64(seed: seed), leavings: nil) }
  }

  /// Whether the power has been cut since it was asked for.
  func isCut(_ folder: Folder) -> Bool { state.withLock { $0.cuts[folder.path]?.leavings != nil } }

  /// A folder with what the cut left, read by the system's own way.
  func leavings(_ folder: Folder) throws -> Folder {
    let other = Folder()
    let files = state.withLock { $0.cuts.removeValue(forKey: folder.path)?.leavings } ?? [:]
    for (path, bytes) in files {
      try Data(bytes).write(to: URL(fileURLWithPath: other.path + "/" + (path as NSString).lastPathComponent))
    }
    return other
  }

  /// Forgets the files of a folder.
  func forget(_ folder: Folder) {
    state.withLock { state in
      state.images = state.images.filter { !$0.key.hasPrefix(folder.path) }
      state.cuts[folder.path] = nil
    }
  }

  func opened(_ path: String) {
    state.withLock { state in
      guard state.images[path] == nil else { return }
      let bytes = (try? Data(contentsOf: URL(fileURLWithPath: path))).map(Array.init) ?? []
      state.images[path] = Image(written: bytes, synced: bytes)
    }
  }

  func wrote(_ path: String, _ bytes: UnsafeRawBufferPointer, at offset: Int) {
    state.withLock { state in
      // Half of the cuts come before this write reaches the disk's memory, half after.
      let isBefore = bytes.count % 2 == 0
      if isBefore { step(&state, path) }
      let end = offset + bytes.count
      let grown = end - (state.images[path]?.written.count ?? 0)
      if grown > 0 { state.images[path]?.written.append(contentsOf: repeatElement(0, count: grown)) }
      state.images[path]?.written.replaceSubrange(offset..<end, with: bytes)
      state.images[path]?.dirty.append(offset..<end)
      if !isBefore { step(&state, path) }
    }
  }

  func truncated(_ path: String, to size: Int) {
    state.withLock { state in
      guard let count = state.images[path]?.written.count, size < count else { return }
      state.images[path]?.written.removeLast(count - size)
    }
  }

  func synced(_ path: String) {
    state.withLock { state in
      guard var image = state.images.removeValue(forKey: path) else { return }
      image.synced = image.written
      image.dirty = []
      state.images[path] = image
    }
  }

  func deleted(_ path: String) { state.withLock { $0.images[path] = nil } }

  private func step(_ state: inout State, _ path: String) {
    let folder = (path as NSString).deletingLastPathComponent
    guard var cut = state.cuts[folder], cut.leavings == nil else { return }
    cut.writesLeft -= 1
    if cut.writesLeft == 0 {
      var leavings: [String: [UInt8]] = [:]
      for (path, image) in state.images.sorted(by: { $0.key < $1.key }) where path.hasPrefix(folder) {
        leavings[path] = Self.leave(image, &cut.generator)
      }
      cut.leavings = leavings
    }
    state.cuts[folder] = cut
  }

  /// The synced content with a random half of the sectors that were written since.
  private static func leave(_ image: Image, _ generator: inout SplitMix64) -> [UInt8] {
    var bytes = image.synced
    for range in image.dirty {
      for sector in range.lowerBound / 512...max(range.lowerBound, range.upperBound - 1) / 512 where Bool.random(using: &generator) {
        let end = min(512 * (sector + 1), image.written.count)
        guard 512 * sector < end else { continue }
        if bytes.count < end { bytes.append(contentsOf: repeatElement(0, count: end - bytes.count)) }
        bytes.replaceSubrange(512 * sector..<end, with: image.written[512 * sector..<end])
      }
    }
    return bytes
  }
}
