import Primitives
import Push

/// The channels of all apps, in memory; pure values, of which every change is noted for the next commit.
///
/// A deleted channel is remembered, so that whoever still sends to it is told so; the oldest of very many are forgotten, and then
/// count as never made.
struct ChannelTable {
  private var channels: [ChannelID: Channel] = [:]
  /// The live ones of each owner, in the order of creation.
  private var live: [ChannelOwner: [ChannelID]] = [:]
  /// The deleted ones, in the order of deletion; those before `deletedHead` are forgotten.
  private var deleted: [ChannelID] = []
  private var deletedHead = 0
  /// Until when the most recent message is kept, of channels that have one.
  private(set) var messageUntil: [ChannelID: Instant] = [:]
  private var last: UInt64 = 0
  private(set) var liveCount = 0
  private let deletedMax: Int

  /// No channels; `deletedMax` deleted ones are remembered.
  init(deletedMax: Int = Limits.deletedChannels) { self.deletedMax = deletedMax }

  /// The channel of that id and owner, deleted or not; nil when there never was one.
  func find(_ id: ChannelID, _ owner: ChannelOwner) -> Channel? {
    guard let channel = channels[id], channel.owner == owner else { return nil }
    return channel
  }

  /// The channel of that id, whoever owns it.
  subscript(id: ChannelID) -> Channel? { channels[id] }

  /// The ids of an owner's channels, in the order of creation.
  func ids(of owner: ChannelOwner) -> [ChannelID] { live[owner] ?? [] }

  /// Makes a channel; false when there are as many as there may be, or the id is one that was used before.
  mutating func create(_ id: ChannelID, _ policy: MessageStoragePolicy, of owner: ChannelOwner, _ changes: inout [BroadcastChange]) -> Bool
  {
    let count = ids(of: owner).count
    guard channels[id] == nil, count < Limits.channelsPerApp else { return false }
    // An app's own bound is its share; the last of all are kept for apps that have none.
    guard liveCount < (count == 0 ? Limits.channels : Limits.channels - Limits.channels / Limits.shareKept) else { return false }
    last += 1
    let channel = Channel(id: id, owner: owner, policy: policy, number: last)
    channels[id] = channel
    live[owner, default: []].append(id)
    liveCount += 1
    changes.append(.putChannel(channel))
    return true
  }

  /// Deletes a live channel, and forgets the oldest deleted one where there are too many. O(the owner's channels).
  mutating func delete(_ channel: Channel, _ changes: inout [BroadcastChange]) {
    var channel = channel
    last += 1
    channel.isDeleted = true
    channel.number = last
    channels[channel.id] = channel
    live[channel.owner]?.removeAll { $0 == channel.id }
    if live[channel.owner]?.isEmpty == true { live[channel.owner] = nil }
    liveCount -= 1
    messageUntil[channel.id] = nil
    deleted.append(channel.id)
    changes.append(.putChannel(channel))
    guard deleted.count - deletedHead > deletedMax else { return }
    let oldest = deleted[deletedHead]
    channels[oldest] = nil
    changes.append(.forgetChannel(oldest))
    deletedHead += 1
    if deletedHead > 1024, deletedHead > deleted.count / 2 {
      deleted.removeFirst(deletedHead)
      deletedHead = 0
    }
  }

  /// Notes a channel's most recent message.
  mutating func setMessage(_ id: ChannelID, _ message: StoredMessage, _ changes: inout [BroadcastChange]) {
    messageUntil[id] = message.until
    changes.append(.putMessage(id, message))
  }

  /// Takes a saved channel; they come by number.
  mutating func load(_ channel: Channel, messageUntil until: Instant?) {
    channels[channel.id] = channel
    last = max(last, channel.number)
    if channel.isDeleted {
      deleted.append(channel.id)
    } else {
      live[channel.owner, default: []].append(channel.id)
      liveCount += 1
      messageUntil[channel.id] = until
    }
  }
}
