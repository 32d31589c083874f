extension ConfigurationError {
  /// What `body` gives; its error gets in front of it the key, such as `upstreams.device.ca`, that named what it works on.
  ///
  /// For keys and certificates: whether a file holds one shows only when it is used, where line and column are known no more.
  public static func naming<Value>(_ key: String, _ body: () throws -> Value) throws(ConfigurationError) -> Value {
    do {
      return try body()
    } catch {
      throw ConfigurationError("\(error)", at: key)
    }
  }
}
