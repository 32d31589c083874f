import CHTTPParser
import Primitives

/// HTTP/1.1 requests from bytes, on libhttp-parser.
///
/// The library tokenises and follows the framing (content-length, chunks); it is lenient and keeps nothing. What it
/// lets through and RFC 9112 forbids is refused here: white space in a field name, folded lines, a missing or second
/// `host`, transfer codings other than `chunked`. After each whole message the library is paused, so that one request is
/// answered before the next one of a pipeline is looked at.
///
/// Belongs to one thread. After `.failed` nothing more may be read.
final class HTTP1Decoder {
  /// What bytes led to.
  enum Event {
    /// A message has begun, or none has; more bytes decide.
    case needsMore
    /// The client waits for `100 Continue` before it sends the body.
    case continueExpected
    /// A whole request; the bytes after it were left alone.
    case message(HTTP1Message)
    /// The bytes are not an acceptable request; answer with this and close.
    case failed(ControlError)
  }

  /// Whether no byte of a further request has been read.
  private(set) var isIdle = true

  private let limits: HTTP1Limits
  private var parser = http_parser()
  private var settings = http_parser_settings()
  private var message = HTTP1Message()
  private var fault: ControlError?
  private var isComplete = false
  private var continueIsDue = false
  private var hasHead = false

  // The field line being read. Pieces of a value must touch, otherwise a line was folded in between.
  private var name: [UInt8] = []
  private var value: [UInt8] = []
  private var valueEnd: Int?
  private var target: [UInt8] = []
  private var headBytes = 0

  // Where the piece being read lies, for the offsets of `valueEnd`.
  private var pieceBase: UnsafePointer<CChar>?
  private var pieceOffset = 0

  init(limits: HTTP1Limits) {
    self.limits = limits
    http_parser_init(&parser, HTTP_REQUEST)
    http_parser_settings_init(&settings)
    settings.on_message_begin = { HTTP1Decoder.of($0).begin() }
    settings.on_url = { HTTP1Decoder.of($0).readTarget(HTTP1Decoder.bytes($1, $2)) }
    settings.on_header_field = { HTTP1Decoder.of($0).readName(HTTP1Decoder.bytes($1, $2)) }
    settings.on_header_value = { HTTP1Decoder.of($0).readValue($1!, HTTP1Decoder.bytes($1, $2)) }
    settings.on_headers_complete = { HTTP1Decoder.of($0).completeHead($0!) }
    settings.on_body = { HTTP1Decoder.of($0).readBody(HTTP1Decoder.bytes($1, $2)) }
    settings.on_message_complete = { HTTP1Decoder.of($0).complete($0!) }
  }

  /// Reads up to the end of one request; `consumed` bytes of the span are used up.
  func read(_ bytes: RawSpan) -> (consumed: Int, event: Event) {
    precondition(fault == nil, "a decoder that failed reads no more")
    let (consumed, problem) = bytes.withUnsafeBytes { buffer in
      pieceBase = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      let consumed = withUnsafeMutablePointer(to: &parser) { parser in
        parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        return pieceBase == nil ? 0 : http_parser_execute(parser, &settings, pieceBase, buffer.count)
      }
      let problem = http_errno(parser.http_errno)
      if problem != HPE_OK && problem != HPE_PAUSED && fault == nil {
        fault = HTTP1Fault.error(problem, beginsMessage: !hasHead && target.isEmpty, buffer.first)
      }
      return (consumed, problem)
    }
    pieceBase = nil
    pieceOffset += consumed
    if let fault { return (consumed, .failed(fault)) }
    if isComplete {
      if problem == HPE_PAUSED { http_parser_pause(&parser, 0) }
      isComplete = false
      isIdle = true
      return (consumed, .message(message))
    }
    if continueIsDue {
      continueIsDue = false
      return (consumed, .continueExpected)
    }
    return (consumed, .needsMore)
  }

  // MARK: What the library calls; a result other than zero stops it

  private func begin() -> CInt {
    message = HTTP1Message()
    isIdle = false
    hasHead = false
    continueIsDue = false
    target = []
    name = []
    value = []
    valueEnd = nil
    headBytes = 0
    return 0
  }

  private func readTarget(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
    target += bytes
    return count(bytes.count)
  }

  private func readName(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
    if valueEnd != nil { endField() }
    name += bytes
    return fault == nil ? count(bytes.count) : 1
  }

  private func readValue(_ start: UnsafePointer<CChar>, _ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
    let offset = pieceOffset + (pieceBase.map { start - $0 } ?? 0)
    guard valueEnd == nil || valueEnd == offset else { return fail(HTTP1Fault.folded) }
    value += bytes
    valueEnd = offset + bytes.count
    return count(bytes.count)
  }

  private func completeHead(_ parser: UnsafeMutablePointer<http_parser>) -> CInt {
    if valueEnd != nil { endField() }
    guard fault == nil else { return -1 }
    hasHead = true
    message.method = HTTPMethod(String(cString: http_method_str(http_method(rawValue: parser.pointee.method))))
    message.target = String(decoding: target, as: UTF8.self)
    message.minorVersion = Int(parser.pointee.http_minor)
    message.keepsAlive = http_should_keep_alive(parser) != 0
    // An offer to change the protocol may be ignored (RFC 9110 section 7.8); the library would stop here.
    parser.pointee.upgrade = 0
    guard parser.pointee.http_major == 1 else { _ = fail(HTTP1Fault.version); return -1 }
    let declared = parser.pointee.content_length
    let hasBody = message.fields["transfer-encoding"] != nil || (declared > 0 && declared != .max)
    if let problem = HTTP1Fault.inHead(message) { _ = fail(problem); return -1 }
    if declared != .max {
      if declared > UInt64(limits.bodyBytes) { _ = fail(.tooLarge(bytesMax: limits.bodyBytes)); return -1 }
      message.body.reserveCapacity(Int(declared))
    }
    continueIsDue = hasBody && message.minorVersion == 1 && message.fields["expect"] != nil
    return 0
  }

  private func readBody(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
    continueIsDue = false
    guard message.body.count + bytes.count <= limits.bodyBytes else { return fail(.tooLarge(bytesMax: limits.bodyBytes)) }
    message.body += bytes
    return 0
  }

  private func complete(_ parser: UnsafeMutablePointer<http_parser>) -> CInt {
    if valueEnd != nil { endField() }
    guard fault == nil else { return 1 }
    isComplete = true
    http_parser_pause(parser, 1)
    return 0
  }

  /// Takes a whole field line; one behind the body, a trailer, is checked and then forgotten.
  private func endField() {
    defer {
      name = []
      value = []
      valueEnd = nil
    }
    guard !name.isEmpty, name.allSatisfy(isTokenByte) else {
      _ = fail(HTTP1Fault.fieldName)
      return
    }
    guard !hasHead else { return }
    guard message.fields.lines.count < limits.fields else {
      _ = fail(HTTP1Fault.tooManyFields(max: limits.fields))
      return
    }
    message.fields.append(String(decoding: name, as: UTF8.self), trimmed(String(decoding: value, as: UTF8.self)))
  }

  private func count(_ bytes: Int) -> CInt {
    headBytes += bytes
    return headBytes <= limits.headBytes ? 0 : fail(HTTP1Fault.headTooLarge(bytesMax: limits.headBytes))
  }

  private func fail(_ error: ControlError) -> CInt {
    if fault == nil { fault = error }
    return 1
  }

  /// The decoder that is reading; `data` is set for the time of one `read`, which keeps it alive.
  private static func of(_ parser: UnsafeMutablePointer<http_parser>?) -> HTTP1Decoder {
    Unmanaged.fromOpaque(parser!.pointee.data).takeUnretainedValue()
  }

  private static func bytes(_ start: UnsafePointer<CChar>?, _ count: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: UnsafeRawPointer(start)?.assumingMemoryBound(to: UInt8.self), count: count)
  }
}
