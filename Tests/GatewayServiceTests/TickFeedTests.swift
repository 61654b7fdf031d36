import Logging
import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import GatewayService

@Suite(.timeLimit(.minutes(15)))
struct TickFeedTests {
    private static let client = ClientID(rawValue: 7)

    /// Runs a feed on a store, starting at tick 1.
    private func withFeed(
        _ store: ScriptedStore, _ body: (TickFeed, _ advance: (ScriptedStore.News) async -> Void) async throws -> Void
    ) async throws {
        let feed = TickFeed(store: store, logger: Logger(label: "tests"))
        let (wakeUps, wakeUp) = AsyncStream.makeStream(of: Void.self)
        let running = Task { await feed.run(wakeUps: wakeUps) }
        while await feed.newestNumber < 1 { await Task.yield() }
        try await body(feed) { news in
            let next = await feed.newestNumber + 1
            store.add(news)
            wakeUp.yield()
            while await feed.newestNumber < next { await Task.yield() }
        }
        running.cancel()
        await running.value
    }

    @Test("a tick's refusals are read once, and only the new ones")
    func newRefusals() async throws {
        let store = ScriptedStore(schema: try Schema.of([Note.self]))
        try await withFeed(store) { _, advance in
            await advance(.init(firstChangeset: 4, last: 5, refusedByteCount: 10))
            await advance(.init(firstChangeset: 6, last: 6, refusedByteCount: 10))
            await advance(.init(firstChangeset: nil, last: 6, refusedByteCount: 0))
            #expect(store.asked == [[Self.client: 4], [Self.client: 6]])
        }
    }
}
