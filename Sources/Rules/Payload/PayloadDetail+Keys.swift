import Push

// Keys that are of no use where they stand: which they are, what they say, and where it would be of use.
extension PayloadDetail {
  /// The first such key and the sentence, for a warning about keys; nil where they cannot be named.
  func keys(_ warning: PushWarning) -> (field: String, detail: String)? {
    let names = PayloadNames(body)
    switch warning {
    case .customKeys:
      return told(
        names.besideAPS(hints: isActivity), in: "", "the payload has keys beside aps, which reach no widget, control or activity: ")
    case .unusedAPSKeys where context.type == .mdm:
      return ("aps", "aps says nothing to a managed device, which looks for mdm beside it; leave aps out")
    case .unusedAPSKeys:
      return told(
        names.unused(useless, places: isActivity || context.type == .alert ? context.type : nil), in: "aps.",
        "aps has keys that this push type does not know and the device ignores: ")
    case .unusedAlertKeys:
      return told(names.unusedInAlert(inActivity: isActivity), in: "aps.alert.", "aps.alert has keys that the device ignores: ")
    case .alertInReload:
      return told(
        names.those(.alertLike), in: "aps.", "aps has keys that do nothing in a reload push (send a push of type alert as well): ")
    case .alertInBackground:
      return told(
        names.those(.shown), in: "aps.",
        "aps has keys that have no place in a background push, and may show nothing (send a push of type alert as well): ")
    case .contentChangedWithoutReload:
      return (
        "aps.content-changed",
        "aps.content-changed reloads nothing in a \(context.type) push; send a push of type widgets or controls with its own token"
      )
    case .attributesAfterStart:
      return told(names.those(.startOnly), in: "aps.", "aps has keys that count only with the event start: ")
    default: return nil
    }
  }

  private func told(_ keys: [PayloadNames.Unused], in place: String, _ sentence: String) -> (field: String, detail: String)? {
    guard let first = keys.first else { return nil }
    let named = keys.prefix(PayloadNames.toldMax).map { $0.name + ($0.value.isEmpty ? "" : " \($0.value)") + $0.hint }.joined(
      separator: ", ")
    return (
      place + first.name, sentence + named + (keys.count > PayloadNames.toldMax ? " and \(keys.count - PayloadNames.toldMax) more" : "")
    )
  }

  private var isActivity: Bool { context.type == .liveactivity }

  /// The keys of Apple's that the push type has no use for.
  private var useless: APSKeys {
    switch context.type {
    case .widgets, .controls: .uselessInReload
    case .liveactivity: facts.event == .start && !context.isBroadcast ? .alertOnly : .alertOrStart
    default: .activityOnly
    }
  }
}
