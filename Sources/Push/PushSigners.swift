/// Which of the gateway's own keys signs for an app in one environment: a number for each push type, since a key may be limited to topics.
public struct PushSigners: Sendable {
  /// The number of no key.
  public static let none = -1

  private var numbers: InlineArray<11, Int32>

  /// The same key for every type.
  public init(_ number: Int = 0) { numbers = InlineArray(repeating: Int32(number)) }

  /// What `number` says of each type.
  public init(_ number: (PushType) -> Int) {
    numbers = InlineArray(repeating: Int32(Self.none))
    for type in PushType.allCases { numbers[Int(type.rawValue)] = Int32(number(type)) }
  }

  /// The number of the key that signs for pushes of that type; `none` where none may.
  public subscript(type: PushType) -> Int { Int(numbers[Int(type.rawValue)]) }
}
