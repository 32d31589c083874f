/// What became of one request: a response, or the reason why there is none. A plain handle to a slot of its session.
///
/// It is good until the session's next `takeAnswer` or `receive`; using it later is our own fault and traps.
@safe
public struct Answer {
  @usableFromInline let slot: UnsafeMutablePointer<RequestSlot>
  @usableFromInline let generation: UInt32

  init(_ slot: UnsafeMutablePointer<RequestSlot>) {
    self.slot = slot
    generation = slot.pointee.generation
  }

  @inlinable @inline(__always) var live: UnsafeMutablePointer<RequestSlot> {
    precondition(slot.pointee.generation == generation, "the answer was given back")
    return slot
  }

  /// The tag that the request was sent with.
  @inlinable public var tag: UInt64 { live.pointee.tag }
  /// Why there is no response, or nil when there is one.
  @inlinable public var failure: StreamFailure? { live.pointee.failure }
  /// The status code of the response; 0 when there is none.
  @inlinable public var status: Int { live.pointee.failure == nil ? live.pointee.status : 0 }

  /// The first value of `name` in the response, or nil when it has no such field.
  @inlinable @_lifetime(borrow self) public func value(of name: HeaderName) -> RawSpan? {
    guard let value = live.pointee.fields.value(of: name) else { return nil }
    return _overrideLifetime(value, borrowing: self)
  }

  /// How many fields the response has, `:status` included.
  @inlinable public var fieldCount: Int { Int(live.pointee.fields.fieldCount) }
  /// The name of the field at `index`, in the order of arrival.
  @inlinable @_lifetime(borrow self) public func name(ofField index: Int) -> RawSpan {
    _overrideLifetime(live.pointee.fields.name(at: index), borrowing: self)
  }
  /// The value of the field at `index`, in the order of arrival.
  @inlinable @_lifetime(borrow self) public func value(ofField index: Int) -> RawSpan {
    _overrideLifetime(live.pointee.fields.value(at: index), borrowing: self)
  }

  /// The body as far as it was kept: at most `ClientSettings.bodyBytesMax` bytes.
  @inlinable public var body: RawSpan {
    @_lifetime(borrow self) get { _overrideLifetime(live.pointee.body.bytes, borrowing: self) }
  }
  /// How many bytes of body arrived, kept or not.
  @inlinable public var bodyBytesTotal: Int { live.pointee.body.total }
}
