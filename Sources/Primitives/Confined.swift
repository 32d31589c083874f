/// A value at a fixed address that one object owns: the state of a class whose methods all run on one thread.
///
/// The stored properties of a class are checked for exclusive access at each use, by a call into the runtime that looks
/// at thread-local memory; a request would pay for dozens. State that is confined to its loop is kept in one of these
/// instead, held by a `let`. What the check would find is then the owner's to rule out: while a method of the value changes
/// it in place, nothing that it calls may come back to the same value by way of the owner. So such a value calls nobody; it
/// returns what is to be done.
@safe
public struct Confined<Value: ~Copyable>: ~Copyable {
  @usableFromInline let address: UnsafeMutablePointer<Value>

  /// Moves `value` to an address of its own.
  @inlinable public init(_ value: consuming Value) {
    unsafe address = .allocate(capacity: 1)
    unsafe address.initialize(to: value)
  }

  @inlinable deinit {
    unsafe address.deinitialize(count: 1)
    unsafe address.deallocate()
  }

  /// The value, to be read or changed in place.
  @inlinable public var value: Value {
    unsafeAddress { unsafe UnsafePointer(address) }
    nonmutating unsafeMutableAddress { unsafe address }
  }
}
