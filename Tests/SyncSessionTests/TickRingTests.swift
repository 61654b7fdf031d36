import Testing
import TomboloChangesets
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

@Suite struct TickRingTests {
    private static let bounds = TickRing.Bounds(tickCount: 3, itemCount: 100, byteCount: 100_000)

    @Test("A ring keeps the newest ticks, and says when it doesn't reach back")
    func newest() {
        var ring = TickRing(bounds: Self.bounds)
        for number in 2...6 {
            let isKept = ring.append(F.live(Int64(number)))
            #expect(isKept)
        }
        #expect(ring.ticks(after: 2) == nil)
        #expect(ring.ticks(after: 3)?.map(\.tick.number) == [4, 5, 6])
        #expect(ring.ticks(after: 5)?.map(\.tick.number) == [6])
        ring.clear()
        #expect(ring.ticks(after: 5) == nil)
    }

    @Test("Refusals count toward what a ring keeps, and a tick that is too large alone isn't kept")
    func refusals() {
        func live(_ number: Int64, _ count: Int) -> LiveTick {
            let refusals = (0..<count).map { _ in F.refused(number) }
            return F.live(number, key: nil, progress: ClientProgress(last: number, refusals: refusals))
        }
        var ring = TickRing(bounds: Self.bounds)
        for number in 2...4 {
            let isKept = ring.append(live(Int64(number), 40))
            #expect(isKept)
        }
        #expect(ring.ticks(after: 1) == nil, "Three such ticks are too much.")
        #expect(ring.ticks(after: 2)?.count == 2)
        let isKept = ring.append(live(5, 101))
        #expect(!isKept)
        #expect(ring.ticks(after: 4) == nil)
    }
}
