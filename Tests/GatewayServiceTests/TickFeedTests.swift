import Logging
import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

@Suite(.timeLimit(.minutes(5)))
struct TickFeedTests {
    private static let client = ClientID(rawValue: 7)

    /// Runs a feed on a store, from tick 1 on.
    private func withFeed(
        _ store: ScriptedStore, _ body: (TickFeed, _ advance: (ScriptedStore.News) async -> Void) async throws -> Void
    ) async throws {
        let feed = TickFeed(store: store, logger: Logger(label: "tests"))
        let (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self)
        var announcements = await feed.watch().makeAsyncIterator()
        let running = Task { await feed.run(wakeUps: wakeUps) }
        await announcements.next()
        try await body(feed) { news in
            store.add(news)
            wakeUp.yield()
            await announcements.next()
        }
        running.cancel()
        await running.value
    }

    @Test("a tick's refusals are read once, and only the new ones")
    func newRefusals() async throws {
        let store = ScriptedStore(schema: try Schema.of([Note.self]))
        try await withFeed(store) { feed, advance in
            await advance(.init(firstChangeset: 4, last: 5, refusedByteCount: 10))
            await advance(.init(firstChangeset: 6, last: 6, refusedByteCount: 10))
            await advance(.init(firstChangeset: nil, last: 6, refusedByteCount: 0))
            for _ in 0..<3 {
                let ticks = await feed.ticks(after: 1)?.ticks
                #expect(ticks?.map { $0.progress[Self.client]?.last } == [5, 6, nil])
            }
            #expect(store.asked == [[Self.client: 4], [Self.client: 6]])
        }
    }

    @Test("refusals count toward what the feed keeps in memory")
    func bound() async throws {
        let store = ScriptedStore(schema: try Schema.of([Note.self]))
        try await withFeed(store) { feed, advance in
            for number in 1...3 {
                await advance(
                    .init(
                        firstChangeset: Int64(number - 1) * 10_000 + 1, last: Int64(number) * 10_000,
                        refusedByteCount: TickFeed.maximumByteCount * 2 / 5))
            }
            #expect(await feed.ticks(after: 1) == nil, "Three such ticks are too much.")
            #expect(await feed.ticks(after: 2)?.ticks.count == 2)
            await advance(.init(firstChangeset: 30_001, last: 40_000, refusedByteCount: TickFeed.maximumByteCount + 1))
            #expect(await feed.ticks(after: 4) == nil, "A tick that is too large alone is not kept at all.")
            #expect(await feed.ticks(after: 5)?.ticks.isEmpty == true)
        }
    }
}
