import CYAML

/// libyaml's parser as a stream of Swift events; the C structures stay here.
struct EventReader: ~Copyable {
  /// What the parser met.
  enum Event {
    case scalar(String, isPlain: Bool, anchor: String?)
    case sequenceStart(anchor: String?)
    case mappingStart(anchor: String?)
    case collectionEnd
    case alias(String)
    case documentStart
    case documentEnd
    case streamEnd
  }

  private let parser: UnsafeMutablePointer<yaml_parser_t>

  /// A reader of `input`, which must outlive it.
  init(_ input: UnsafeBufferPointer<UInt8>) {
    parser = .allocate(capacity: 1)
    let ready = yaml_parser_initialize(parser) == 1
    precondition(ready, "libyaml has no memory for a parser")
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  /// The next event with its place; the stream's start is skipped.
  mutating func next() throws(YAMLError) -> (Event, YAMLMark) {
    while true {
      var event = yaml_event_t()
      guard yaml_parser_parse(parser, &event) == 1 else { throw fault() }
      defer { yaml_event_delete(&event) }
      let mark = YAMLMark(event.start_mark)
      switch event.type {
      case YAML_STREAM_START_EVENT, YAML_NO_EVENT: continue
      case YAML_STREAM_END_EVENT: return (.streamEnd, mark)
      case YAML_DOCUMENT_START_EVENT: return (.documentStart, mark)
      case YAML_DOCUMENT_END_EVENT: return (.documentEnd, mark)
      case YAML_ALIAS_EVENT: return (.alias(text(event.data.alias.anchor) ?? ""), mark)
      case YAML_SCALAR_EVENT:
        let scalar = event.data.scalar
        try refuseTag(scalar.tag, mark)
        let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
        return (.scalar(String(decoding: bytes, as: UTF8.self), isPlain: isPlain, anchor: text(scalar.anchor)), mark)
      case YAML_SEQUENCE_START_EVENT:
        try refuseTag(event.data.sequence_start.tag, mark)
        return (.sequenceStart(anchor: text(event.data.sequence_start.anchor)), mark)
      case YAML_MAPPING_START_EVENT:
        try refuseTag(event.data.mapping_start.tag, mark)
        return (.mappingStart(anchor: text(event.data.mapping_start.anchor)), mark)
      default: return (.collectionEnd, mark)
      }
    }
  }

  private func refuseTag(_ tag: UnsafeMutablePointer<yaml_char_t>?, _ mark: YAMLMark) throws(YAMLError) {
    guard let tag = text(tag) else { return }
    throw YAMLError("the tag \(tag) is not supported; write the value alone", at: mark)
  }

  /// The parser's complaint in its own words, which name what it was reading.
  private func fault() -> YAMLError {
    let state = parser.pointee
    let problem = state.problem.map { String(cString: $0) } ?? "not YAML"
    if state.error == YAML_READER_ERROR { return YAMLError("\(problem), at byte \(state.problem_offset)", at: nil) }
    let context = state.context.map { ", " + String(cString: $0) + " of " + YAMLMark(state.context_mark).description } ?? ""
    return YAMLError(problem + context, at: YAMLMark(state.problem_mark))
  }

  private func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    pointer.map { String(cString: $0) }
  }
}

extension YAMLMark {
  fileprivate init(_ mark: yaml_mark_t) { self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1) }
}
