import JSON
import Primitives
import Push

/// What one thread remembers from one request to the next, since most requests say for the most part what the last one said.
///
/// A backend signs with one provider token for up to an hour, sends to one app at a time, and its reload pushes are all the
/// same few bytes. Everything here is keyed by exact bytes, and holds only what those bytes and the rules decide: nothing that
/// depends on the time (but for when a token was first seen), a push token or stored state. It belongs to one `RequestRules`.
public struct RequestMemory: ~Copyable {
  var tokens: ProviderTokenVerdicts
  var topic = TopicMemory()
  var payload = PayloadMemory()

  /// A memory of nothing.
  ///
  /// - Parameters:
  ///   - verifier: Checks signatures; it belongs to the same thread.
  ///   - capacity: Tokens remembered at most, a power of two of at least 4, such as `Limits.providerTokenVerdicts`.
  ///   - seed: A secret for the hash of tokens, since senders choose the bytes; one for all who share `updates`.
  ///   - updates: Counts new tokens over the connections from one address; nil counts them on each connection alone.
  public init(verifier: any ProviderTokenVerifier, capacity: Int, seed: UInt64, updates: (any ProviderTokenUpdates)? = nil) {
    tokens = ProviderTokenVerdicts(verifier: verifier, capacity: capacity, seed: seed, updates: updates)
  }
}

/// The last topic that was found right, with what it says.
struct TopicMemory {
  private var text = RememberedBytes()
  private var type: PushType?
  private var provider: Int?
  private var bundleBytes = 0
  private var app = 0
  private var topicType = PushType.alert
  private var family = TopicFamily.app
  private var schemas = 0

  /// What `text`, which stands at `range`, says with that push type and provider, nil for any certificate; nil when it is not the last
  /// one.
  func recall(_ text: RawSpan, at range: ByteRange, type: PushType?, provider: Int?) -> Topic? {
    guard provider == self.provider, type == self.type, self.text.equals(text) else { return nil }
    return Topic(
      range: range, bundle: ByteRange(offset: Int(range.offset), count: bundleBytes), app: app, type: topicType, family: family,
      schemas: schemas)
  }

  /// Remembers that `text` is right and says `topic`.
  mutating func keep(_ text: RawSpan, _ topic: Topic, type: PushType?, provider: Int?) {
    self.text.keep(text)
    self.type = type
    self.provider = provider
    bundleBytes = Int(topic.bundle.count)
    app = topic.app
    topicType = topic.type
    family = topic.family
    schemas = topic.schemas
  }
}

/// What the last payload says, as far as its bytes alone decide it.
struct PayloadMemory: ~Copyable {
  private var bytes = RememberedBytes()
  private(set) var facts = PayloadFacts()

  /// Makes `facts` those of `body`; throws when it is not one strict JSON value.
  mutating func read(_ body: RawSpan) throws(JSONError) {
    guard !bytes.equals(body) else { return }
    bytes.forget()
    facts = try PayloadFacts(body)
    bytes.keep(body)
  }
}
