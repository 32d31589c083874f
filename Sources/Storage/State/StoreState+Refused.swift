import Primitives
import Push

// How refused requests are saved. Nothing waits for it, so it costs no commit of its own kind: pages of the ring, the newest first, go along
// with a commit now and then, so many bytes a second. A flood of refusals therefore costs the disk that much and no more, and a file never
// has more pages than the ring.

/// The beginning of a saved refused request.
struct SavedRefusedHead {
  var sequence: UInt64
  var high: UInt64
  var low: UInt64
  var received: Int64
  var at: Int64
  var upperCase: UInt32
  /// The number of the type; the greatest where it was not understood.
  var type: UInt8
  /// The number of the reason; the greatest where nothing was answered.
  var reason: UInt8
  var cause: UInt8
  /// 0 where the request named no token.
  var tokenBytes: UInt8
  /// With `ofTokensApp` added where the bundle id is that of the token's registration.
  var bundleIDBytes: UInt16
  var textBytes: UInt16

  /// More than any text has bytes.
  static let ofTokensApp: UInt16 = 1 << 15
}

extension StoreState {
  /// The layout of the pages. One of another build's is passed over: a log that begins anew is better than a store that does not open.
  static let refusedLayout: UInt8 = 2
  /// The layouts that are read: in the first one no request was counted as one of its token's app.
  private static let refusedLayouts: ClosedRange<UInt8> = 1...refusedLayout

  /// Writes pages of refused requests that differ from what was saved, until there are `bytesMax` bytes; their numbers with their places.
  mutating func writeRefused(to arena: ByteArena, bytesMax: Int) -> [(number: UInt64, bytes: ByteRange)] {
    var pages: [(UInt64, ByteRange)] = []
    let begin = arena.count
    var end = UInt64.max
    while arena.count - begin < bytesMax {
      guard let page = refused.popUnsaved(below: end) else {
        refused.allSaved()
        break
      }
      let start = arena.count
      arena.append(Self.refusedLayout)
      for sequence in page.sequences where !refused[sequence].pointee.isForgotten { writeRefused(sequence, to: arena) }
      pages.append((page.number, ByteRange(offset: start, count: arena.count - start)))
      end = page.number
    }
    return pages
  }

  private func writeRefused(_ sequence: UInt64, to arena: ByteArena) {
    let entry = refused[sequence]
    arena.append(
      SavedRefusedHead(
        sequence: sequence, high: entry.pointee.id.high, low: entry.pointee.id.low, received: entry.pointee.received.nanoseconds,
        at: entry.pointee.at.nanoseconds, upperCase: entry.pointee.id.upperCase,
        type: entry.pointee.type.map { vocabulary.number(.type, $0.rawValue) } ?? .max,
        reason: entry.pointee.reason.map { vocabulary.number(.reason, $0.rawValue) } ?? .max,
        cause: vocabulary.number(.cause, entry.pointee.cause.rawValue), tokenBytes: UInt8(entry.pointee.token?.count ?? 0),
        bundleIDBytes: UInt16(entry.pointee.bundleIDBytes) | (entry.pointee.isOfTokensApp ? SavedRefusedHead.ofTokensApp : 0),
        textBytes: entry.pointee.text.count))
    if let token = entry.pointee.token { for index in 0..<token.count { arena.append(token[index]) } }
    arena.append(entry.pointee.text.bytes)
  }

  /// Takes a saved page of refused requests.
  mutating func loadRefused(_ reader: consuming ByteReader) throws(ByteReader.Malformed) {
    guard Self.refusedLayouts.contains(try reader.read(UInt8.self)) else { return }
    while !reader.isAtEnd {
      let head: SavedRefusedHead = try reader.read()
      let token = head.tokenBytes == 0 ? nil : DeviceToken(bytes: RawSpan(_unsafeBytes: try reader.read(count: Int(head.tokenBytes))))
      let text = RawSpan(_unsafeBytes: try reader.read(count: Int(head.textBytes)))
      let bundleIDBytes = head.bundleIDBytes & ~SavedRefusedHead.ofTokensApp
      guard bundleIDBytes <= head.textBytes else { throw ByteReader.Malformed() }
      var entry = RefusedLog.Entry(
        sequence: head.sequence, id: PushID(high: head.high, low: head.low, upperCase: head.upperCase), token: token,
        type: vocabulary.value(.type, head.type).flatMap(PushType.init(rawValue:)),
        reason: vocabulary.value(.reason, head.reason).flatMap(Reason.init),
        cause: vocabulary.value(.cause, head.cause).flatMap(Cause.init) ?? .none, received: Instant(nanoseconds: head.received),
        at: Instant(nanoseconds: head.at))
      entry.isOfTokensApp = head.bundleIDBytes != bundleIDBytes
      refused.load(
        entry, bundleID: text.extracting(0..<Int(bundleIDBytes)), detail: text.extracting(Int(bundleIDBytes)..<text.byteCount))
    }
  }
}
