public import JSON

extension HTTPRequest {
  /// The body as a JSON value, whatever its declared media type (curl's `-d` says it is a form).
  public func json() throws(ControlError) -> JSONValue {
    do throws(JSONError) {
      return try JSONValue.parse(body)
    } catch {
      throw ControlError(error)
    }
  }

  /// The body as a JSON Merge Patch of an object (RFC 7396), whatever its declared media type.
  public func readPatch() throws(ControlError) -> JSONObject {
    let value = try json()
    guard let patch = value.objectValue else {
      throw .badRequest("the body must be a JSON object with what is to change, not \(value.kindName)", field: "body")
    }
    return patch
  }

  /// The body's fields as `read` takes them; fields that it does not ask for are refused.
  public func readJSON<Value>(_ read: (inout JSONReader) throws(FieldError) -> Value) throws(ControlError) -> Value {
    let value = try json()
    do throws(FieldError) {
      var reader = try JSONReader(value)
      let result = try read(&reader)
      try reader.finish()
      return result
    } catch {
      throw ControlError(error)
    }
  }
}
