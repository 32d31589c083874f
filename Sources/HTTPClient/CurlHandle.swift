import CCurl
import Primitives

/// One libcurl easy handle with its open connections; used by one thread at a time.
struct CurlHandle: ~Copyable {
  private static let globallyInitialised: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  private let handle: UnsafeMutableRawPointer
  private let trust: BlockingHTTPClient.Trust
  private let bounds: BlockingHTTPClient.Bounds

  init(trust: BlockingHTTPClient.Trust, bounds: BlockingHTTPClient.Bounds) {
    let ready = Self.globallyInitialised
    guard ready, let handle = curl_easy_init() else { preconditionFailure("libcurl has no memory for a handle") }
    self.handle = handle
    self.trust = trust
    self.bounds = bounds
  }

  deinit { curl_easy_cleanup(handle) }

  /// One call; the connection stays open for the next.
  ///
  /// - Parameter reader: Takes the body of an answer of success as it comes, and says whether it wants more; nil has it collected.
  mutating func perform(
    _ request: BlockingHTTPClient.Request, reader: (([UInt8]) -> Bool)? = nil
  ) throws(BlockingHTTPClient.Failure) -> BlockingHTTPClient.Response {
    // Forgets the options of the call before, not its connections.
    curl_easy_reset(handle)
    var errorText = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
    let list = try fieldList(of: request)
    defer { curl_slist_free_all(list) }
    let collector = ResponseCollector(bodyBytesMax: bounds.bodyBytesMax, reader: reader)
    setOptions(of: request)
    widgetpush_curl_set_list(handle, CURLOPT_HTTPHEADER, list)
    widgetpush_curl_set_callback(handle, CURLOPT_HEADERFUNCTION, receiveField)
    widgetpush_curl_set_callback(handle, CURLOPT_WRITEFUNCTION, receiveBody)
    let code = withExtendedLifetime(collector) { () -> CURLcode in
      let pointer = Unmanaged.passUnretained(collector).toOpaque()
      widgetpush_curl_set_pointer(handle, CURLOPT_HEADERDATA, pointer)
      widgetpush_curl_set_pointer(handle, CURLOPT_WRITEDATA, pointer)
      return errorText.withUnsafeMutableBytes { error in
        widgetpush_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, error.baseAddress)
        return withTrust { withBody(of: request) { curl_easy_perform(handle) } }
      }
    }
    // The buffers above end here; the handle must not remember them.
    defer { curl_easy_reset(handle) }
    if collector.isFull {
      throw BlockingHTTPClient.Failure(
        .tooLarge, "the answer of \(request.url) has more than \(bounds.bodyBytesMax) bytes")
    }
    guard code == CURLE_OK || collector.isStopped else {
      var connectErrno = 0
      widgetpush_curl_get_long(handle, CURLINFO_OS_ERRNO, &connectErrno)
      let detail = String(decoding: errorText.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      throw BlockingHTTPClient.Failure(code, to: request.url, trust: trust, detail: detail, connectErrno: Int32(connectErrno))
    }
    var status = 0
    var version = 0
    widgetpush_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
    widgetpush_curl_get_long(handle, CURLINFO_HTTP_VERSION, &version)
    return BlockingHTTPClient.Response(
      status: status, fields: collector.fields, body: collector.body, isHTTP2: version == Int(CURL_HTTP_VERSION_2_0))
  }

  private func setOptions(of request: BlockingHTTPClient.Request) {
    widgetpush_curl_set_string(handle, CURLOPT_URL, request.url)
    widgetpush_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    widgetpush_curl_set_string(handle, CURLOPT_PROXY, "")
    // Without it, curl times name look-ups out with SIGALRM, which would hit some other thread.
    widgetpush_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    widgetpush_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(bounds.connect.milliseconds)))
    if let silence = request.silence {
      widgetpush_curl_set_long(handle, CURLOPT_LOW_SPEED_LIMIT, 1)
      widgetpush_curl_set_long(handle, CURLOPT_LOW_SPEED_TIME, max(1, Int(silence.seconds)))
    } else {
      widgetpush_curl_set_long(handle, CURLOPT_TIMEOUT_MS, max(1, Int((request.timeout ?? bounds.total).milliseconds)))
    }
    let version = request.version == .http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS
    widgetpush_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(version))
    if request.method == "HEAD" {
      widgetpush_curl_set_long(handle, CURLOPT_NOBODY, 1)
    } else {
      widgetpush_curl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method)
    }
  }

  /// The header list; the empty entries keep curl from adding fields of its own.
  private func fieldList(
    of request: BlockingHTTPClient.Request
  ) throws(BlockingHTTPClient.Failure) -> UnsafeMutablePointer<curl_slist>? {
    var lines = ["Expect:"]
    if !request.fields.contains(where: { $0.name.lowercased() == "content-type" }) { lines.append("Content-Type:") }
    for field in request.fields {
      guard !field.name.isEmpty, !(field.name + field.value).utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) else {
        throw BlockingHTTPClient.Failure(.badRequest, "the header field \"\(field.name)\" holds a line break or a zero byte")
      }
      // A trailing semicolon is curl's spelling of a field with an empty value.
      lines.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines { list = curl_slist_append(list, line) }
    return list
  }

  private func withBody(of request: BlockingHTTPClient.Request, _ body: () -> CURLcode) -> CURLcode {
    guard var bytes = request.body else { return body() }
    return bytes.withUnsafeMutableBytes { buffer in
      // POSTFIELDS sets the size's meaning and the method of sending; the method's name stays as set.
      widgetpush_curl_set_long(handle, CURLOPT_POSTFIELDSIZE, buffer.count)
      if let start = buffer.baseAddress {
        widgetpush_curl_set_pointer(handle, CURLOPT_POSTFIELDS, start)
      } else {
        widgetpush_curl_set_string(handle, CURLOPT_COPYPOSTFIELDS, "")
      }
      return body()
    }
  }

  private func withTrust(_ body: () -> CURLcode) -> CURLcode {
    switch trust {
    case .system: return body()
    case .file(let path):
      widgetpush_curl_set_string(handle, CURLOPT_CAINFO, path)
      return body()
    case .pem(let text):
      var bytes = Array(text.utf8)
      return bytes.withUnsafeMutableBytes { buffer in
        var blob = curl_blob(data: buffer.baseAddress, len: buffer.count, flags: UInt32(CURL_BLOB_COPY))
        widgetpush_curl_set_pointer(handle, CURLOPT_CAINFO_BLOB, &blob)
        return body()
      }
    }
  }
}

private func receiveField(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ collector: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes, let collector else { return 0 }
  let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
  Unmanaged<ResponseCollector>.fromOpaque(collector).takeUnretainedValue().addLine(line)
  return size * count
}

private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ collector: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes, let collector else { return 0 }
  let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
  return Unmanaged<ResponseCollector>.fromOpaque(collector).takeUnretainedValue().addBody(chunk) ? size * count : 0
}
