import Primitives
import Push

/// Channels and broadcasts in the database, written inside the commit that decided them.
final class SQLiteBroadcasts {
  private let putChannel, forgetChannel, putMessage, putBroadcast, forgetBroadcast, message: SQLiteStatement

  init(_ connection: SQLiteConnection) throws(SQLiteConnection.Failure) {
    putChannel = try connection.prepare(
      "INSERT OR REPLACE INTO channel(id, bundle, environment, policy, number, deleted) VALUES(?, ?, ?, ?, ?, ?)")
    forgetChannel = try connection.prepare("DELETE FROM channel WHERE id = ?")
    putMessage = try connection.prepare("UPDATE channel SET message_id = ?2, message_until = ?3, message = ?4 WHERE id = ?1")
    putBroadcast = try connection.prepare("INSERT OR REPLACE INTO broadcast(number, record, payload) VALUES(?, ?, ?)")
    forgetBroadcast = try connection.prepare("DELETE FROM broadcast WHERE number = ?")
    message = try connection.prepare("SELECT message_id, message_until, message FROM channel WHERE id = ?")
  }

  func apply(_ changes: [BroadcastChange]) throws(SQLiteConnection.Failure) {
    for change in changes {
      switch change {
      case .putChannel(let channel):
        putChannel.bind(1, channel.id.bytes)
        putChannel.bind(2, channel.owner.bundleID)
        putChannel.bind(3, channel.owner.environment.name)
        putChannel.bind(4, Int64(channel.policy.rawValue))
        putChannel.bind(5, Int64(channel.number))
        putChannel.bind(6, channel.isDeleted ? 1 : 0)
        try putChannel.run()
      case .forgetChannel(let id):
        forgetChannel.bind(1, id.bytes)
        try forgetChannel.run()
      case .putMessage(let id, let message):
        putMessage.bind(1, id.bytes)
        putMessage.bind(2, message.id.description)
        putMessage.bind(3, message.until.nanoseconds)
        putMessage.bind(4, message.payload)
        try putMessage.run()
      case .putBroadcast(let number, let record, let payload):
        putBroadcast.bind(1, Int64(number))
        putBroadcast.bind(2, record)
        putBroadcast.bind(3, payload)
        try putBroadcast.run()
      case .forgetBroadcast(let number):
        forgetBroadcast.bind(1, Int64(number))
        try forgetBroadcast.run()
      }
    }
  }

  /// The most recent message of a channel.
  func message(of channel: ChannelID) throws(SQLiteConnection.Failure) -> StoredMessage? {
    message.bind(1, channel.bytes)
    defer { message.reset() }
    guard try message.step(), let id = message.text(0).flatMap({ PushID($0) }) else { return nil }
    return StoredMessage(id: id, until: Instant(nanoseconds: Int64(message.int(1))), payload: Array(message.blob(2)))
  }

  /// The channel in the present row, and until when its message is kept; nil when the row makes no sense to this build.
  static func channel(_ row: SQLiteStatement) -> (Channel, messageUntil: Instant?)? {
    let bytes = Array(row.blob(0))
    guard bytes.count == 16, let environment = row.text(2).flatMap(PushEnvironment.init(name:)),
      let policy = UInt8(exactly: row.int(3)).flatMap(MessageStoragePolicy.init(rawValue:))
    else { return nil }
    func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    let channel = Channel(
      id: ChannelID(high: word(bytes[..<8]), low: word(bytes[8...])),
      owner: ChannelOwner(bundleID: row.text(1) ?? "", environment: environment), policy: policy, number: UInt64(row.int(4)),
      isDeleted: row.int(5) != 0)
    let until = row.int(6)
    return (channel, until == 0 ? nil : Instant(nanoseconds: Int64(until)))
  }
}
