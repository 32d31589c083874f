public import Primitives
public import Push

// What the gateway remembers of the time before a restart: the same person, or the same script, places it again, and means the same thing.
extension DeviceFleet {
  /// Gives devices the settings under which their apps had registered before a restart, where nobody has set any since.
  ///
  /// Before the effects of their own set-up are taken, so that nobody registers what had been forgotten.
  public mutating func recallSettings(from registrations: [Registration], at instant: Instant) {
    for registration in registrations {
      guard let index = tokens.find(registration.token), !tokens[index].foreign, let name = deviceName(of: tokens[index]),
        devices[name]?.settings == DeviceSettings()
      else { continue }
      var settings = DeviceSettings()
      (settings.environment, settings.user) = (registration.environment, registration.user)
      settings.platform = registration.platform ?? settings.platform
      settings.developerMode = registration.developerMode
      guard settings != DeviceSettings() else { continue }
      effects = effects.filter { effect in tokens.find(effect.token).flatMap { deviceName(of: tokens[$0]) } != name }
      // It is there, which is all that could be wrong.
      _ = try? setDevice(name, settings, at: instant)
    }
  }

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
