/// Builds the tree from the parser's events, and says no to what configuration does not need.
struct Composer {
  private let bounds: YAML.Bounds
  /// Finished values that aliases may stand for, each with its count of nodes and levels.
  private var anchors: [String: (node: YAMLNode, nodes: Int, depth: Int)] = [:]
  private var nodes = 0

  init(bounds: YAML.Bounds) { self.bounds = bounds }

  /// The one document in `bytes`, or nil when there is none.
  mutating func compose(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode? {
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    defer { buffer.deallocate() }
    _ = buffer.initialize(from: bytes)
    var reader = EventReader(UnsafeBufferPointer(buffer))
    guard case .documentStart = try reader.next().0 else { return nil }
    let root = try value(try reader.next(), depth: 1, &reader).node
    _ = try reader.next()
    let (next, mark) = try reader.next()
    guard case .streamEnd = next else { throw YAMLError("a second document begins here; only one is read", at: mark) }
    return root
  }

  /// The value that begins with `event`, and how many levels it has.
  private mutating func value(
    _ event: (EventReader.Event, YAMLMark), depth: Int, _ reader: inout EventReader
  ) throws(YAMLError) -> (node: YAMLNode, depth: Int) {
    let mark = event.1
    guard depth <= bounds.depthMax else { throw YAMLError("nested deeper than \(bounds.depthMax) levels", at: mark) }
    let before = nodes
    try count(1, mark)
    let node: YAMLNode
    var levels = 1
    let name: String?
    switch event.0 {
    case .scalar(let text, let isPlain, let anchor):
      node = YAMLNode(.scalar(text, isPlain: isPlain), at: mark)
      name = anchor
    case .sequenceStart(let anchor):
      var elements: [YAMLNode] = []
      while true {
        let next = try reader.next()
        if case .collectionEnd = next.0 { break }
        let element = try value(next, depth: depth + 1, &reader)
        elements.append(element.node)
        levels = max(levels, 1 + element.depth)
      }
      node = YAMLNode(.sequence(elements), at: mark)
      name = anchor
    case .mappingStart(let anchor):
      var entries: [YAMLNode.Entry] = []
      var seen: [String: YAMLMark] = [:]
      while let (key, keyMark) = try self.key(try reader.next()) {
        if let first = seen.updateValue(keyMark, forKey: key) {
          throw YAMLError("the key \"\(key)\" stands here again; it was first given in \(first)", at: keyMark)
        }
        let entry = try value(try reader.next(), depth: depth + 1, &reader)
        entries.append(YAMLNode.Entry(key: key, keyMark: keyMark, value: entry.node))
        levels = max(levels, 1 + entry.depth)
      }
      node = YAMLNode(.mapping(entries), at: mark)
      name = anchor
    case .alias(let anchor):
      guard let known = anchors[anchor] else {
        throw YAMLError("the alias *\(anchor) stands for nothing: no value before it is marked &\(anchor)", at: mark)
      }
      guard depth + known.depth - 1 <= bounds.depthMax else {
        throw YAMLError("nested deeper than \(bounds.depthMax) levels through the alias *\(anchor)", at: mark)
      }
      try count(known.nodes - 1, mark)
      return (known.node, known.depth)
    case .collectionEnd, .documentStart, .documentEnd, .streamEnd:
      preconditionFailure("libyaml ends a value only after beginning it")
    }
    if let name { anchors[name] = (node, nodes - before, levels) }
    return (node, levels)
  }

  /// The key that `event` is, or nil at the mapping's end.
  private func key(_ event: (EventReader.Event, YAMLMark)) throws(YAMLError) -> (String, YAMLMark)? {
    switch event.0 {
    case .scalar("<<", isPlain: true, anchor: _):
      throw YAMLError("merge keys are not supported; repeat the keys, or use an alias for a whole value", at: event.1)
    case .scalar(let text, isPlain: _, anchor: nil): return (text, event.1)
    case .collectionEnd: return nil
    default: throw YAMLError("a key must be plain text", at: event.1)
    }
  }

  private mutating func count(_ more: Int, _ mark: YAMLMark) throws(YAMLError) {
    nodes += more
    guard nodes <= bounds.nodesMax else {
      throw YAMLError("more than \(bounds.nodesMax) values, those that aliases stand for included", at: mark)
    }
  }
}
