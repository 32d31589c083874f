import CNghttp2
import HTTP2

/// nghttp2's decoder of header blocks, as a peer of ours would use it.
final class Inflater {
  struct Field: Equatable {
    var name: String
    var value: String
    var isNeverIndexed = false
  }

  private var inflater: OpaquePointer?

  init() { nghttp2_hd_inflate_new(&inflater) }
  deinit { nghttp2_hd_inflate_del(inflater) }

  /// Applies a SETTINGS_HEADER_TABLE_SIZE of the peer's that we have acknowledged.
  func setTableSize(_ bytes: Int) { nghttp2_hd_inflate_change_table_size(inflater, bytes) }

  /// The fields of one block, or nil when it is not a proper one.
  func fields(_ block: [UInt8]) -> [Field]? {
    var fields: [Field] = []
    var rest = block[...]
    while true {
      var entry = nghttp2_nv()
      var flags: CInt = 0
      let read = rest.withUnsafeBufferPointer { nghttp2_hd_inflate_hd2(inflater, &entry, &flags, $0.baseAddress, $0.count, 1) }
      guard read >= 0 else { return nil }
      rest = rest.dropFirst(read)
      if flags & CInt(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
        fields.append(
          Field(
            name: String(decoding: UnsafeBufferPointer(start: entry.name, count: entry.namelen), as: UTF8.self),
            value: String(decoding: UnsafeBufferPointer(start: entry.value, count: entry.valuelen), as: UTF8.self),
            isNeverIndexed: entry.flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0))
      }
      if flags & CInt(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
        nghttp2_hd_inflate_end_headers(inflater)
        return rest.isEmpty ? fields : nil
      }
    }
  }

  /// The entries that the encoder has put into the dynamic table.
  var dynamicEntries: Int { nghttp2_hd_inflate_get_num_table_entries(inflater) - 61 }
}

/// The block that HEADERS and its CONTINUATION frames carry together.
func block(of frames: [Frame]) -> [UInt8] {
  frames.filter { $0.kind == .headers || $0.kind == .continuation }.flatMap(\.payload)
}
