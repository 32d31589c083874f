/// Why something asked of a device by a person cannot be done.
public struct DeviceError: Error, Hashable, Sendable {
  /// Which kind of refusal it is.
  public enum Code: String, Sendable {
    /// The device, app, widget, control or activity does not exist.
    case notFound
    /// A name is taken.
    case conflict
    /// The value is not one that the app knows.
    case invalid
    /// A bound is reached.
    case full
  }

  /// Which kind of refusal it is.
  public var code: Code
  /// What is wrong and what would be right: one sentence.
  public var message: String
  /// The field of the request that is at fault.
  public var field: String?

  /// An error with these values.
  public init(_ code: Code, _ message: String, field: String? = nil) {
    self.code = code
    self.message = message
    self.field = field
  }
}

extension DeviceError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
