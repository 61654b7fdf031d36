import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

@Suite struct TickRingTests {
    private static let bounds = TickRing.Bounds(tickCount: 3, itemCount: 100, byteCount: 100_000)

    private static func ticks(_ ring: inout TickRing, after number: Int64, limit: Int = .max) -> [Int64]? {
        let view = LiveView(
            visibility: Visibility(predicates: [0: .constant(true)]), columns: [:], mask: .none, names: DeviceNames())
        return ring.ticks(after: number, thatMayConcern: view, F.client, in: F.schema, limit: limit)?.map(\.tick.number)
    }

    @Test("A ring keeps the newest ticks, and says when it doesn't reach back far enough")
    func newest() {
        var ring = TickRing(bounds: Self.bounds)
        for number in 2...6 {
            let isKept = ring.append(F.live(Int64(number)))
            #expect(isKept)
        }
        #expect(Self.ticks(&ring, after: 2) == nil)
        #expect(Self.ticks(&ring, after: 3) == [4, 5, 6])
        #expect(Self.ticks(&ring, after: 3, limit: 2) == nil)
        #expect(Self.ticks(&ring, after: 5) == [6])
        ring.clear()
        #expect(Self.ticks(&ring, after: 5) == nil)
    }

    @Test("Refusals count toward a ring's size, and a tick that is too large by itself isn't kept")
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
        #expect(Self.ticks(&ring, after: 1) == nil, "Three such ticks are too many.")
        #expect(Self.ticks(&ring, after: 2)?.count == 2)
        let isKept = ring.append(live(5, 101))
        #expect(!isKept)
        #expect(Self.ticks(&ring, after: 4) == nil)
    }
}
