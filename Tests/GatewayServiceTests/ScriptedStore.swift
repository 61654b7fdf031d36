import Synchronization
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

/// A store whose ticks only contain news of one client's changesets. Remembers which refusals were asked for.
final class ScriptedStore: ServerStore {
    /// What one tick says about client 7.
    struct News: Sendable {
        /// Nil if the tick doesn't say.
        let firstChangeset: Int64?
        let last: Int64
        /// The total length of the messages in the new changesets' refusals; 0 if all changesets were applied.
        let refusedByteCount: Int

        /// As many refusals as it takes to hold the messages; the last refusal is for the changeset ``last``.
        var refusals: [RefusedWrite] {
            let count = (refusedByteCount + Refusal.maximumMessageByteCount - 1) / Refusal.maximumMessageByteCount
            return (0..<count).map { index in
                let left = refusedByteCount - index * Refusal.maximumMessageByteCount
                let length = min(left, Refusal.maximumMessageByteCount)
                return RefusedWrite(
                    number: last - Int64(count - 1 - index),
                    refusal: Refusal(.notPermitted, String(repeating: "x", count: length)))
            }
        }
    }

    struct NotScripted: Error {}

    let schema: Schema
    private let state = Mutex<(news: [News], asked: [[ClientID: Int64]])>(([], []))

    init(schema: Schema) { self.schema = schema }

    var asked: [[ClientID: Int64]] { state.withLock { $0.asked } }

    /// Makes the next tick.
    func add(_ news: News) { state.withLock { $0.news.append(news) } }

    func keepReadable(_ readable: [Int: Predicate], under rulesFingerprint: UInt64) async throws {}

    func readable(under rulesFingerprint: UInt64) async throws -> [Int: Predicate]? { nil }

    func makeTick() async throws -> Tick? { nil }

    func latestTick() async throws -> Tick { Self.tick(state.withLock { $0.news.count } + 1) }

    func tick(_ number: Int64) async throws -> Tick? { Self.tick(Int(number)) }

    static func tick(_ number: Int) -> Tick {
        Tick(
            number: Int64(number), token: 1, snapshot: Snapshot(xmin: 1, xmax: 1, running: []),
            time: Stamp(microseconds: Int64(number)))
    }

    func withReader<Result: Sendable>(
        _ body: @Sendable (any TickReader) async throws -> Result
    ) async throws -> Result {
        let latest = try await latestTick()
        let news = state.withLock { $0.news.last }
        return try await body(
            Reader(tick: latest, news: news) { asked in self.state.withLock { $0.asked.append(asked) } })
    }

    func openClient(_ client: ClientID, user: String, acknowledged: Int64) async throws -> ClientOpening {
        throw NotScripted()
    }

    func upload(_ uploads: [Upload]) async throws -> [UploadResult] { throw NotScripted() }

    private struct Reader: TickReader {
        let tick: Tick
        let news: News?
        let ask: @Sendable ([ClientID: Int64]) -> Void

        func difference(from: Tick) async throws -> TickDifference {
            TickDifference(
                from: from.number, to: tick.number, changes: [],
                clients: news?.firstChangeset.map { [ClientID(rawValue: 7): $0] } ?? [:])
        }

        func progress(of clients: [ClientID: Int64]) async throws -> [ClientID: ClientProgress] {
            ask(clients)
            guard let news else { return [:] }
            return clients.mapValues { _ in ClientProgress(last: news.last, refusals: news.refusals) }
        }

        func progress(of client: ClientID) async throws -> ClientProgress { throw NotScripted() }

        func rows(
            classIndex: Int, matching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
        ) async throws { throw NotScripted() }

        func elements(
            classIndex: Int, ofOwnersMatching: Predicate, columns: [Int], _ body: (RowBlock) async throws -> Void
        ) async throws { throw NotScripted() }

        func count(classIndex: Int, matching: Predicate) async throws -> Int { throw NotScripted() }
    }
}
