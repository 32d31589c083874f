/// YAML 1.1 by libyaml, narrowed to what configuration needs.
///
/// One document of mappings with text keys, lists and scalars. Duplicate keys, tags, merge keys and second documents are
/// errors with their place. Aliases are followed; what they add counts against the bound on nodes, so a short text cannot
/// stand for a huge tree.
public enum YAML {
  /// How large a document may be.
  public struct Bounds: Hashable, Sendable {
    /// Values in the tree, those reached by aliases counted each time.
    public var nodesMax: Int
    /// Levels of nesting.
    public var depthMax: Int

    /// Bounds with these values; the defaults serve any configuration written by hand.
    public init(nodesMax: Int = 100_000, depthMax: Int = 32) {
      self.nodesMax = nodesMax
      self.depthMax = depthMax
    }
  }

  /// The one document in `text`, or nil when it holds none; throws with the place of the first fault.
  public static func parse(_ text: String, bounds: Bounds = Bounds()) throws(YAMLError) -> YAMLNode? {
    var composer = Composer(bounds: bounds)
    return try composer.compose(Array(text.utf8))
  }
}
