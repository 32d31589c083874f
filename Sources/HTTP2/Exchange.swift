public import Primitives

/// A request and the means to answer it: a plain handle to a slot of the pool.
///
/// It is good until its session next receives or drains, since either may close the stream. Whoever answers later
/// keeps `key` and asks the pool again. Using a handle after its stream was closed is our own fault and traps, but for
/// `respond`, which then does nothing.
@safe
public struct Exchange {
  @usableFromInline let slot: UnsafeMutablePointer<ExchangeSlot>
  /// The name under which `ExchangePool.exchange(for:)` finds this exchange for as long as it is open.
  public let key: ExchangeKey

  init(_ slot: UnsafeMutablePointer<ExchangeSlot>) {
    self.slot = slot
    key = slot.pointee.key
  }

  @inlinable @inline(__always) var live: UnsafeMutablePointer<ExchangeSlot> {
    precondition(slot.pointee.generation == key.generation, "the exchange was closed")
    return slot
  }

  /// When the first byte of the request arrived, by the `now` that the session was given.
  @inlinable public var received: Instant { live.pointee.received }
  /// Whether the whole request has arrived; false only for one that `ServerSession.takeStalled` gave.
  @inlinable public var isComplete: Bool { live.pointee.isComplete }
  /// Whether it was answered already.
  @inlinable public var isAnswered: Bool { live.pointee.isAnswered }
  /// The tag of the session that it came by.
  public var sessionTag: UInt64 { live.pointee.session!.pointee.tag }
}

// MARK: Header fields

extension Exchange {
  /// The bytes of all values, and of the names that are not known ones; ranges refer to it.
  @inlinable public var headerBytes: RawSpan {
    @_lifetime(borrow self) get { _overrideLifetime(live.pointee.fields.bytes, borrowing: self) }
  }

  /// Where the first value of `name` is in `headerBytes`, or nil when the request has no such field.
  @inlinable public func range(of name: HeaderName) -> ByteRange? { live.pointee.fields.range(of: name) }

  /// The first value of `name`, or nil when the request has no such field.
  @inlinable @_lifetime(borrow self) public func value(of name: HeaderName) -> RawSpan? {
    guard let value = live.pointee.fields.value(of: name) else { return nil }
    return _overrideLifetime(value, borrowing: self)
  }

  /// The known names that the request has.
  @inlinable public var names: HeaderNames { HeaderNames(rawValue: live.pointee.fields.present) }
  /// The known names that the request has more than once; `value(of:)` is the first of each.
  @inlinable public var duplicates: HeaderNames { HeaderNames(rawValue: live.pointee.fields.duplicates) }

  /// How many fields the request has, known or not, pseudo-header fields included; at most 64.
  @inlinable public var fieldCount: Int { Int(live.pointee.fields.fieldCount) }

  /// The token of the field at `index`, in the order of arrival, or nil when its name is not a known one.
  @inlinable public func knownName(ofField index: Int) -> HeaderName? {
    HeaderName(rawValue: live.pointee.fields.record(index).token)
  }

  /// The name of the field at `index`, in the order of arrival.
  @inlinable @_lifetime(borrow self) public func name(ofField index: Int) -> RawSpan {
    _overrideLifetime(live.pointee.fields.name(at: index), borrowing: self)
  }

  /// The value of the field at `index`, in the order of arrival.
  @inlinable @_lifetime(borrow self) public func value(ofField index: Int) -> RawSpan {
    _overrideLifetime(live.pointee.fields.value(at: index), borrowing: self)
  }
}

// MARK: Body

extension Exchange {
  /// The body as far as it was kept: at most `ServerSettings.bodyBytesMax` bytes.
  @inlinable public var body: RawSpan {
    @_lifetime(borrow self) get { _overrideLifetime(live.pointee.body.bytes, borrowing: self) }
  }

  /// How many bytes of body arrived, kept or not.
  @inlinable public var bodyBytesTotal: Int { live.pointee.body.total }
}
