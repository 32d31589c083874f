import Push

// What the gateway remembers of the time before a restart: the same person, or the same script, places it again, and means the same thing.
extension DeviceFleet {
  /// The remembered widget that a person means who places one like it, which is now one of those that are placed; nil when there is none.
  mutating func recallWidget(_ kind: String, _ family: WidgetFamily, _ id: String?, at place: AppPlace) throws(DeviceError) -> PlacedWidget?
  {
    let found = self[place].widgets.firstIndex { widget in
      widget.isRemembered && widget.kind == kind && widget.family == family && id.map { $0 == widget.id } ?? true
    }
    guard let found else { return nil }
    self[place].widgets[found].isRemembered = false
    try registerWidgets(at: place)
    return self[place].widgets[found]
  }

  /// The same for a control.
  mutating func recallControl(_ kind: String, _ id: String?, at place: AppPlace) -> PlacedControl? {
    let found = self[place].controls.firstIndex { control in
      control.isRemembered && control.kind == kind && id.map { $0 == control.id } ?? true
    }
    guard let found else { return nil }
    self[place].controls[found].isRemembered = false
    register(self[place].controls[found].token)
    return self[place].controls[found]
  }
}
