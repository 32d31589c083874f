import Push

/// Which widget a budget belongs to, so that registering again keeps what was spent: the placed instance where the app tells
/// them apart, else the how-manieth of its kind and family.
enum WidgetIdentity: Hashable {
  case instance(String)
  case place(kind: String, family: String, ordinal: Int)

  /// The identities of a registration's widgets, in their order.
  static func all(_ widgets: [Registration.Widget]) -> [WidgetIdentity] {
    var seen: [WidgetIdentity: Int] = [:]
    return widgets.map { widget in
      if let id = widget.id { return .instance(id) }
      let first = WidgetIdentity.place(kind: widget.kind, family: widget.family, ordinal: 0)
      let ordinal = seen[first, default: 0]
      seen[first] = ordinal + 1
      return .place(kind: widget.kind, family: widget.family, ordinal: ordinal)
    }
  }
}
