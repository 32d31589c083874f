import CHTTPParser
import Primitives

/// HTTP/1.1 requests from bytes, their heads on libhttp-parser.
///
/// The library takes a head apart; it is lenient and keeps nothing. What it lets through and RFC 9112 forbids is refused here: white space
/// in a field name, folded lines, lines that end in a bare LF, a missing or second `host`, transfer codings other than `chunked`, and any
/// in HTTP/1.0. Methods are read here, since it knows those of a list alone, and bodies, since it does not look at how a chunk ends
/// (`HTTP1Body`). After each whole message it begins anew, so that one request is answered before the next one of a pipeline is looked at.
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

  /// The part of a request that comes next.
  private enum Part { case method, head, body }

  /// Whether no byte of a further request has been read.
  private(set) var isIdle = true

  private let limits: HTTP1Limits
  private var parser = http_parser()
  private var settings = http_parser_settings()
  private var message = HTTP1Message()
  private var fault: ControlError?
  private var part = Part.method
  private var method: [UInt8] = []
  private var hasHead = false
  private var body = HTTP1Body(length: 0)
  private var continueIsDue = false
  /// The byte before, of a method or head: a line ends in CR and LF.
  private var lastByte: UInt8 = 0

  // The field line being read.
  private var name: [UInt8] = []
  private var value: [UInt8] = []
  private var hasValue = false
  private var target: [UInt8] = []
  private var headBytes = 0

  init(limits: HTTP1Limits) {
    self.limits = limits
    http_parser_settings_init(&settings)
    settings.on_url = { HTTP1Decoder.of($0).readTarget(HTTP1Decoder.bytes($1, $2)) }
    settings.on_header_field = { HTTP1Decoder.of($0).readName(HTTP1Decoder.bytes($1, $2)) }
    settings.on_header_value = { HTTP1Decoder.of($0).readValue(HTTP1Decoder.bytes($1, $2)) }
    settings.on_headers_complete = { HTTP1Decoder.of($0).completeHead($0!) }
    settings.on_message_complete = {
      http_parser_pause($0, 1)
      return 0
    }
  }

  /// Reads up to the end of one request; `consumed` bytes of the span are used up.
  func read(_ bytes: RawSpan) -> (consumed: Int, event: Event) {
    precondition(fault == nil, "a decoder that failed reads no more")
    var consumed = 0
    if part == .method { consumed = readMethod(bytes) }
    if part == .head, fault == nil, consumed < bytes.byteCount { consumed += readHead(bytes.extracting(droppingFirst: consumed)) }
    if part == .body, fault == nil {
      let rest = bytes.extracting(droppingFirst: consumed)
      let mayWait = continueIsDue
      continueIsDue = false
      if mayWait, rest.byteCount == 0 { return (consumed, .continueExpected) }
      let (count, problem) = body.read(rest, into: &message.body, limits)
      consumed += count
      fault = problem
    }
    if let fault { return (consumed, .failed(fault)) }
    guard part == .body, body.isWhole else { return (consumed, .needsMore) }
    part = .method
    isIdle = true
    return (consumed, .message(message))
  }

  // MARK: The request line's method

  /// Bytes of a method at most; those that are registered have 17.
  private static let methodBytesMax = 32

  /// The methods that the library knows; for any other it is given one of these.
  private static let libraryMethods: Set<String> = {
    var methods: Set<String> = []
    // It has a number for each, from 0 on, and a text in brackets for what is none.
    for number in UInt32(0)... {
      let text = String(cString: http_method_str(http_method(rawValue: number)))
      guard text.first != "<" else { break }
      methods.insert(text)
    }
    return methods
  }()

  private func readMethod(_ bytes: RawSpan) -> Int {
    for index in 0..<bytes.byteCount {
      let byte = bytes.byte(index)
      guard endsLine(byte), byte == UInt8(ascii: "\n") || lastByte != UInt8(ascii: "\r") else {
        fault = HTTP1Fault.lineEnd
        return index
      }
      lastByte = byte
      // Empty lines before a request are passed over (RFC 9112 section 2.2).
      if method.isEmpty, byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") { continue }
      isIdle = false
      if byte == UInt8(ascii: " "), !method.isEmpty {
        // What HTTP/2's preface begins with, which is made to be refused, so that nobody takes frames for requests (RFC 9113 section 3.4).
        if method.elementsEqual("PRI".utf8) { fault = HTTP1Fault.method(first: method[0]) } else { begin() }
        return index + 1
      }
      guard isTokenByte(byte), method.count < Self.methodBytesMax else {
        fault = HTTP1Fault.method(first: method.first ?? byte)
        return index
      }
      method.append(byte)
    }
    return bytes.byteCount
  }

  /// Whether `byte` is no LF, or one behind a CR. The library takes a bare LF as well; whoever else reads the request may not, and then they
  /// disagree about what it says.
  private func endsLine(_ byte: UInt8) -> Bool { byte != UInt8(ascii: "\n") || lastByte == UInt8(ascii: "\r") }

  /// Has the library begin with a request of the method that was read.
  private func begin() {
    let text = String(decoding: method, as: UTF8.self)
    message = HTTP1Message()
    message.method = HTTPMethod(text)
    (hasHead, continueIsDue, headBytes, hasValue) = (false, false, 0, false)
    (target, name, value) = ([], [], [])
    method.removeAll(keepingCapacity: true)
    http_parser_init(&parser, HTTP_REQUEST)
    part = .head
    let known = Self.libraryMethods.contains(text) ? text : HTTPMethod.post.text
    _ = execute(Array("\(known) ".utf8).span.bytes)
  }

  // MARK: The head

  private func readHead(_ bytes: RawSpan) -> Int {
    let (consumed, problem) = execute(bytes)
    for index in 0..<consumed {
      let byte = bytes.byte(index)
      if !endsLine(byte) { fault = HTTP1Fault.lineEnd }
      // The library joins a line that begins with white space to the one before (RFC 9112 section 5.2).
      if lastByte == UInt8(ascii: "\n"), byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { fault = HTTP1Fault.folded }
      lastByte = byte
    }
    if fault == nil, problem != HPE_OK, problem != HPE_PAUSED { fault = HTTP1Fault.error(problem) }
    if fault == nil, hasHead { part = .body }
    return consumed
  }

  private func execute(_ bytes: RawSpan) -> (consumed: Int, problem: http_errno) {
    let consumed = bytes.withUnsafeBytes { buffer in
      withUnsafeMutablePointer(to: &parser) { parser in
        parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        return http_parser_execute(parser, &settings, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
      }
    }
    return (consumed, http_errno(parser.http_errno))
  }

  // MARK: What the library calls; a result other than zero stops it

  private func readTarget(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
    target += bytes
    return count(bytes.count)
  }

  private func readName(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
    if hasValue { endField() }
    name += bytes
    return fault == nil ? count(bytes.count) : 1
  }

  private func readValue(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
    value += bytes
    hasValue = true
    return count(bytes.count)
  }

  /// The head is whole; 1 keeps the library from the body, and -1 stops it.
  private func completeHead(_ parser: UnsafeMutablePointer<http_parser>) -> CInt {
    if hasValue { endField() }
    guard fault == nil else { return -1 }
    hasHead = true
    message.target = String(decoding: target, as: UTF8.self)
    message.minorVersion = Int(parser.pointee.http_minor)
    message.keepsAlive = http_should_keep_alive(parser) != 0
    // An offer to change the protocol may be ignored (RFC 9110 section 7.8); the library would stop here.
    parser.pointee.upgrade = 0
    guard parser.pointee.http_major == 1 else { _ = fail(HTTP1Fault.version); return -1 }
    let declared = parser.pointee.content_length == .max ? 0 : parser.pointee.content_length
    let isChunked = message.fields["transfer-encoding"] != nil
    if let problem = HTTP1Fault.inHead(message) { _ = fail(problem); return -1 }
    guard declared <= UInt64(limits.bodyBytes) else { _ = fail(.tooLarge(bytesMax: limits.bodyBytes)); return -1 }
    message.body.reserveCapacity(Int(declared))
    body = isChunked ? .chunked : HTTP1Body(length: Int(declared))
    continueIsDue = !body.isWhole && message.minorVersion == 1 && message.fields["expect"] != nil
    return 1
  }

  /// Takes a whole field line.
  private func endField() {
    defer {
      name = []
      value = []
      hasValue = false
    }
    guard !name.isEmpty, name.allSatisfy(isTokenByte) else {
      _ = fail(HTTP1Fault.fieldName)
      return
    }
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
