import Gateway

extension AppStorage {
  /// `apps.json` in the store's folder, which one gateway at a time has.
  init(folder: String) {
    let path = "\(folder)/apps.json"
    self.init(
      load: { Files.exists(path) ? try Files.read(path) : nil },
      save: { try Files.write($0, to: path, mode: 0o600) })
  }
}
