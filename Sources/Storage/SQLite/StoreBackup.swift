/// A copy of a store that may be in use.
public enum StoreBackup {
  /// Copies the store at `path` into the file at `target`, which must be empty: as it was at one commit, while the gateway that has it
  /// goes on. What was accepted after that commit is not in it.
  ///
  /// - Throws: `corrupt` when the file at `path` is no store that this build reads, `engine` when it cannot be read or the copy not written.
  public static func copy(_ path: String, to target: String) throws(StoreError) {
    do throws(SQLiteConnection.Failure) {
      let connection = try SQLiteConnection(path, isReader: true)
      try SQLiteSchema.check(connection, path: path)
      // Whole pages in their order, without those that are free: smaller than the file, and read in one transaction.
      let statement = try connection.prepare("VACUUM INTO ?")
      statement.bind(1, SQLiteConnection.resolved(target))
      _ = try statement.step()
    } catch {
      throw error.storeError(path)
    }
  }
}
