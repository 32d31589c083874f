import Primitives
import Testing

@Suite("BlockPool") struct BlockPoolTests {
  /// Each size gets the next power of two from 256 bytes on, and above 64 KB whole pages.
  @Test(arguments: [
    (0, 256), (1, 256), (256, 256), (257, 512), (1000, 1024), (1024, 1024), (1025, 2048), (65_535, 65_536), (65_536, 65_536),
    (65_537, 69_632), (1_000_000, 1_003_520),
  ]) func sizes(asked: Int, given: Int) throws {
    let pool = BlockPool(bytesMax: 1 << 24)
    let block = try #require(pool.allocate(asked))
    #expect(block.capacity == given && pool.lentBytes == given && pool.bytes == given)
    pool.release(block)
    #expect(pool.lentBytes == 0)
    #expect(pool.bytes == (given <= BlockPool.largestKeptBlock ? given : 0), "only blocks up to 64 KB are kept")
  }

  @Test func releasedBlocksAreLentAgain() throws {
    let pool = BlockPool(bytesMax: 1 << 20)
    let first = try #require(pool.allocate(300))
    let second = try #require(pool.allocate(300))
    #expect(pool.growths == 2)
    pool.release(first)
    pool.release(second)
    for _ in 0..<100 {
      let (a, b) = (try #require(pool.allocate(512)), try #require(pool.allocate(257)))
      pool.release(a)
      pool.release(b)
    }
    #expect(pool.growths == 2 && pool.bytes == 1024)
  }

  @Test func boundIsKept() throws {
    let pool = BlockPool(bytesMax: 1024)
    let lent = try (0..<4).map { _ in try #require(pool.allocate(256)) }
    #expect(pool.allocate(1) == nil && pool.bytes == 1024)
    pool.release(lent[0])
    #expect(pool.allocate(257) == nil, "512 bytes are not left")
    pool.release(lent[1])
    // Kept blocks of another class give way.
    let large = try #require(pool.allocate(512))
    #expect(pool.bytes == 1024)
    #expect(pool.allocate(1) == nil)
    for block in [large, lent[2], lent[3]] { pool.release(block) }
  }

  @Test func contentsAreKeptWhenGrowing() {
    let pool = BlockPool(bytesMax: 1 << 20)
    let bytes = (0..<200).map { UInt8($0) }
    var block = pool.copy(bytes.span.bytes)!
    #expect(pool.grow(&block, to: 5000, keeping: 200))
    #expect(block.capacity == 8192 && block.bytes(200).array == bytes && pool.lentBytes == 8192)
    block.store(bytes.span.bytes, at: 8192 - 200)
    #expect(block.bytes(8192).array.suffix(200) == bytes[...])
    #expect(!pool.grow(&block, to: 2 << 20, keeping: 200) && block.capacity == 8192)
    pool.release(block)
  }

  /// A seeded run of lending and giving back: no two blocks overlap, and the sums agree with a plain account.
  @Test(arguments: 1...8 as ClosedRange<UInt64>) func randomRun(seed: UInt64) throws {
    let pool = BlockPool(bytesMax: 1 << 20)
    var generator = SplitMix64(seed: seed)
    func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    var lent: [(block: Block, mark: UInt8)] = []
    for step in 0..<800 {
      if lent.isEmpty || next(3) > 0, lent.count < 40 {
        guard let block = pool.allocate(next(next(2) == 0 ? 600 : 30_000)) else { continue }
        let mark = UInt8(step & 255)
        block.store([UInt8](repeating: mark, count: block.capacity).span.bytes)
        lent.append((block, mark))
      } else {
        let (block, mark) = lent.remove(at: next(lent.count))
        #expect(block.bytes(block.capacity).array.allSatisfy { $0 == mark }, "step \(step)")
        pool.release(block)
      }
      #expect(pool.lentBytes == lent.reduce(0) { $0 + $1.block.capacity })
      #expect(pool.bytes <= 1 << 20)
    }
    for (block, _) in lent { pool.release(block) }
    pool.releaseKept()
    #expect(pool.bytes == 0 && pool.lentBytes == 0)
  }

  /// Kept blocks go a few at a time, the largest first, and those that are lent stay.
  @Test func keptBlocksGoAFewAtATime() {
    let pool = BlockPool(bytesMax: 1 << 20)
    let blocks = (0..<10).map { _ in pool.allocate(256)! } + (0..<5).map { _ in pool.allocate(4096)! }
    let lent = pool.allocate(1000)!
    for block in blocks { pool.release(block) }
    #expect(pool.releaseKept(atMost: 5), "the small ones are left")
    #expect(pool.bytes == 10 * 256 + 1024)
    #expect(pool.releaseKept(atMost: 9) && pool.bytes == 256 + 1024)
    #expect(!pool.releaseKept(atMost: 9) && pool.bytes == 1024 && pool.lentBytes == 1024)
    pool.release(lent)
    #expect(BlockPool.capacity(for: 0) == 256 && BlockPool.capacity(for: 4097) == 8192)
  }

  @Test func storingOutsideTraps() async {
    await #expect(processExitsWith: .failure) {
      let pool = BlockPool(bytesMax: 1 << 20)
      let block = pool.allocate(256)!
      block.store([UInt8](repeating: 0, count: 2).span.bytes, at: 255)
    }
  }
}
