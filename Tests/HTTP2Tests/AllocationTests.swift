import CNghttp2
import Glibc
import Primitives
import Testing

@testable import HTTP2

/// A steady load asks the system for no memory: neither nghttp2 for its own, nor the session for headers and bodies.
@Suite("Allocations") struct AllocationTests {
  private struct Count: Equatable {
    var allocations, growths: Int
    init(_ memory: SessionMemory) { (allocations, growths) = (memory.allocations, memory.blocks.growths) }
  }

  /// Thousands of pushes in batches of every kind of answer, both sides counted.
  @Test(arguments: [1, 7, 64]) func steadyStateAllocatesNothing(batch: Int) throws {
    // Kept bytes that are not counted down again would reach this bound long before the end.
    let pool = makePool(256, keptBytes: 512 << 10)
    let server = TestServer(pool: pool)
    let memory = SessionMemory(blockBytesMax: 64 << 20)
    let client = TestClient(memory: memory)
    converse(client, server)
    var number = 0
    func round() throws {
      for _ in 0..<batch {
        client.send(clientPush(number), tag: UInt64(number))
        number += 1
      }
      converse(client, server)
      while let exchange = server.ready() {
        let refused = exchange.key.packed % 3 == 0
        server.respond(exchange, refused ? 400 : 200, [(.apnsID, exchange.text(.apnsID)!)], body: refused ? payload : [])
      }
      converse(client, server)
      #expect(client.answers().count == batch)
    }
    for _ in 0..<20 { try round() }
    let (atServer, atClient) = (Count(pool.memory), Count(memory))
    #expect(atServer.allocations > 0 && atServer.growths > 0)
    for _ in 0..<max(20, 5000 / batch) { try round() }
    #expect(Count(pool.memory) == atServer)
    #expect(Count(memory) == atClient)
    #expect(pool.memory.blocks.lentBytes == 0 && memory.blocks.lentBytes == 0)
  }

  /// Connections that come and go leave nothing behind, and the next one lives on what they gave back.
  @Test func connectionsAreFreedWhole() throws {
    let pool = makePool()
    for _ in 0..<50 {
      let server = TestServer(pool: pool)
      server.serve(preface + (0..<20).flatMap { request(UInt32(2 * $0 + 1)) })
    }
    #expect(pool.memory.liveAllocations == 0 && pool.memory.blocks.lentBytes == 0 && pool.openExchanges == 0)
  }

  /// The 16 KB in which a session makes its frames have memory only where frames were made: an idle connection has some hundred
  /// bytes of them, although what the C library gives for them was used before, and is not zero.
  @Test func largeBlocksBeginWithoutMemory() throws {
    let allocator = SessionMemory(blockBytesMax: 1 << 20).allocator
    let (malloc, free) = (try #require(allocator.malloc), try #require(allocator.free))
    let size = 16_394
    for _ in 0..<20 {
      let block = try #require(malloc(size, allocator.mem_user_data))
      let page = 4096
      let first = (page - Int(bitPattern: block) % page) % page
      let wholePages = UnsafeRawBufferPointer(start: block + first, count: (size - first) / page * page)
      #expect(wholePages.count >= 3 * page && wholePages.allSatisfy { $0 == 0 })
      memset(block, 0xFF, size)
      free(block, allocator.mem_user_data)
    }
  }

  /// The free list keeps no more than it may.
  @Test func keptBytesAreBounded() {
    let bounded = makePool(keptBytes: 0)
    let server = TestServer(pool: bounded)
    server.serve(preface + request(1))
    let before = bounded.memory.allocations
    server.serve(request(3))
    #expect(bounded.memory.allocations > before, "with nothing kept, each request allocates")
  }
}
