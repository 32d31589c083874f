public import JSON
public import Push

extension SchemaProblem {
  /// What these mismatches of a payload come to; nil where there are none.
  public init?(_ mismatches: [CodableMismatch]) {
    guard let first = mismatches.first(where: { !$0.isDecodable }) ?? mismatches.first else { return nil }
    self.init(first.cause, field: first.path, detail: Self.sentence(mismatches), warnings: [])
    for warning in [PushWarning.contentStateMismatch, .attributesMismatch, .dateMisread] {
      let own = mismatches.filter { $0.warning == warning }
      if let first = own.first { warnings.append(WarningDetail(warning, field: first.path, detail: Self.sentence(own))) }
    }
  }

  /// Mismatches in one sentence, of which as many are named as a reader takes in and a detail has room for.
  public static func sentence(_ mismatches: [CodableMismatch]) -> String {
    mismatches.sentence(naming: Limits.mismatchesNamed, bytesMax: Limits.warningDetailBytes)
  }
}

extension CodableMismatch {
  /// Why a push with it is refused, or let pass by the device.
  public var cause: Cause {
    if isDecodable { return .dateMisread }
    return ActivitySchemas.isOfAttributes(self) ? .attributesNotDecodable : .contentStateNotDecodable
  }

  /// What warns of it.
  var warning: PushWarning {
    if isDecodable { return .dateMisread }
    return ActivitySchemas.isOfAttributes(self) ? .attributesMismatch : .contentStateMismatch
  }
}
