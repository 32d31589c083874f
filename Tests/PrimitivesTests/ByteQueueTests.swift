import Primitives
import Testing

@Suite("ByteQueue") struct ByteQueueTests {
  /// Every split of a message survives a queue of exactly its size, at every starting offset.
  @Test(arguments: 0...8) func splits(at cut: Int) {
    let message: [UInt8] = Array(0..<8)
    for offset in 0...8 {
      var queue = ByteQueue(capacity: 8)
      queue.append(message.span.extracting(first: offset).bytes)
      queue.consume(offset)
      #expect(queue.append(message.span.extracting(first: cut).bytes) == cut)
      #expect(queue.append(message.span.extracting(droppingFirst: cut).bytes) == 8 - cut)
      #expect(queue.free == 0 && queue.count == 8)
      #expect(queue.append(byte: 9) == false)
      #expect(queue.bytes.array == message)
      queue.consume(8)
      #expect(queue.isEmpty && queue.free == 8)
    }
  }

  /// A queue fed and read in random portions always holds what a plain array holds.
  @Test(arguments: [1, 7, 513, 4096]) func matchesAnArray(capacity: Int) {
    var generator = SplitMix64(seed: UInt64(capacity))
    var queue = ByteQueue(capacity: capacity)
    var model: [UInt8] = []
    var next: UInt8 = 0
    for step in 0..<2000 {
      if generator.next() % 2 == 0 {
        let portion = (0..<Int(generator.next() % UInt64(capacity + 2))).map { _ -> UInt8 in
          next &+= 1
          return next
        }
        let taken = queue.append(portion.span.bytes)
        #expect(taken == min(portion.count, capacity - model.count), "step \(step)")
        model += portion.prefix(taken)
      } else {
        let portion = Int(generator.next() % UInt64(model.count + 1))
        queue.consume(portion)
        model.removeFirst(portion)
      }
      #expect(queue.bytes.array == model, "step \(step)")
      #expect(queue.storageBytes <= capacity, "step \(step)")
    }
  }

  @Test func memoryComesWithTheFirstByteAndGoesOnRequest() {
    var queue = ByteQueue(capacity: 1 << 20)
    #expect(queue.storageBytes == 0 && queue.bytes.byteCount == 0)
    queue.append("hello")
    #expect(queue.storageBytes > 0 && queue.storageBytes < 1 << 12)
    queue.releaseStorage()
    #expect(queue.count == 5, "a queue with bytes keeps them")
    queue.consume(5)
    queue.releaseStorage()
    #expect(queue.storageBytes == 0)
  }

  @Test func fillIsCutToWhatFits() {
    var queue = ByteQueue(capacity: 4)
    queue.append("abc")
    let written = queue.fill(atMost: 10) { room in
      room[0] = UInt8(ascii: "d")
      return room.count
    }
    #expect(written == 1 && queue.bytes.string == "abcd")
    #expect(queue.fill(atMost: 10) { $0.count } == 0)
  }

  @Test func takeMovesWhatFits() {
    var source = ByteQueue(capacity: 8)
    var target = ByteQueue(capacity: 4)
    source.append("abcdef")
    target.take(from: &source)
    #expect(target.bytes.string == "abcd" && source.bytes.string == "ef")
  }

  @Test func overconsumingTraps() async {
    await #expect(processExitsWith: .failure) {
      var queue = ByteQueue(capacity: 1)
      queue.consume(1)
    }
  }
}
