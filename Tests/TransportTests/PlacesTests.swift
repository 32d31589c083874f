import Primitives
import Reactor
import Testing

@testable import Transport

@Suite("Places of connections") struct PlacesTests {
  private func origin(_ address: String) -> ConnectionPlaces.Origin { ConnectionPlaces.Origin(SocketAddress(ip: address, port: 1)!) }
  private func key(_ index: UInt32, _ generation: UInt32 = 0) -> SlabKey { SlabKey(index: index, generation: generation) }

  private func victim(_ places: ConnectionPlaces, for address: String, idle: [UInt32: Int64] = [:]) -> SlabKey? {
    places.victim(for: origin(address)) { key in idle[key.index].map { Uptime(nanoseconds: $0) } }
  }

  /// One address fills all places; who comes from another gets that address' oldest, and keeps his own as long as he has few.
  @Test func oneAddressTakesNoPlaceOfOthers() {
    let places = ConnectionPlaces(capacity: 8)
    places.take(key(100), origin("192.0.2.7"))
    for index in 0..<7 { places.take(key(UInt32(index)), origin("192.0.2.1")) }
    #expect(places.count == 8)
    // The first of all is the oldest, and not the one to go.
    #expect(victim(places, for: "192.0.2.1") == key(0))
    #expect(victim(places, for: "192.0.2.8") == key(0))
    places.release(key(0))
    places.prove(key(1))
    #expect(victim(places, for: "192.0.2.1") == key(2))
    // Proven twice, or ended and proven: nothing is counted twice.
    places.prove(key(1))
    places.release(key(2))
    places.prove(key(2))
    #expect(victim(places, for: "192.0.2.8") == key(3))
  }

  /// Who has proven himself gives way only when all have, only to another address' share, and only while he rests.
  @Test func theLongestIdleIsTheLast() {
    let places = ConnectionPlaces(capacity: 4)
    for index in 0..<4 {
      places.take(key(UInt32(index)), origin("192.0.2.1"))
      places.prove(key(UInt32(index)))
    }
    #expect(victim(places, for: "192.0.2.2") == nil)
    #expect(victim(places, for: "192.0.2.2", idle: [1: 30, 2: 20, 3: 40]) == key(2))
    places.release(key(0))
    places.release(key(1))
    for index in 4..<6 {
      places.take(key(UInt32(index)), origin("192.0.2.2"))
      places.prove(key(UInt32(index)))
    }
    #expect(victim(places, for: "192.0.2.3", idle: [2: 20, 3: 40, 4: 10, 5: 10]) == nil, "nobody has more than his share")
  }

  /// An IPv6 network of 64 bits is one origin; an IPv4 address is the same through either kind of socket.
  @Test func whatIsOneOrigin() {
    #expect(origin("2001:db8:1:2::1") == origin("2001:db8:1:2:ffff::9") && origin("2001:db8:1:2::1") != origin("2001:db8:1:3::1"))
    #expect(origin("::ffff:192.0.2.1") == origin("192.0.2.1") && origin("192.0.2.1") != origin("192.0.2.2"))
    #expect(origin("::1") != origin("::2"))
  }

  /// Against a plain list, whatever comes and goes: the victim is never a proven one while there are others, and is the oldest of its origin.
  @Test(arguments: 0..<20) func asAPlainList(seed: UInt64) {
    var random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func next(_ bound: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(random >> 33) % bound
    }
    let addresses = (1...4).map { "192.0.2.\($0)" }
    let places = ConnectionPlaces(capacity: 40)
    var model: [(key: SlabKey, address: String, isProven: Bool)] = []
    for step in 0..<4000 {
      switch next(4) {
      case 0 where !model.isEmpty:
        let index = next(model.count)
        places.prove(model[index].key)
        model[index].isProven = true
      case 1 where !model.isEmpty: places.release(model.remove(at: next(model.count)).key)
      default:
        let address = addresses[min(next(4), next(4))]
        if model.count == 40 {
          let own = model.filter { $0.address == address }
          let unproven = model.filter { !$0.isProven }
          guard let found = victim(places, for: address), let index = model.firstIndex(where: { $0.key == found }) else {
            #expect(unproven.isEmpty, "step \(step)")
            continue
          }
          let taken = model[index]
          #expect(!taken.isProven && taken.key == unproven.first { $0.address == taken.address }?.key, "step \(step)")
          if own.count >= 20, own.contains(where: { !$0.isProven }) { #expect(taken.address == address, "step \(step)") }
          places.release(model.remove(at: index).key)
        }
        model.append((key(UInt32(step), 1), address, false))
        places.take(key(UInt32(step), 1), origin(address))
      }
      #expect(places.count == model.count)
    }
  }
}
