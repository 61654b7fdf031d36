public import Logging
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloPostgresStore
public import TomboloRules
internal import TomboloSyncProtocol
public import TomboloSyncSession

/// Reads each tick once for the whole gateway and keeps the newest in memory, so that sessions that keep up cost the
/// database nothing. A session that falls behind further than ``maximumTickCount`` reads the changelog itself.
public actor TickFeed {
    /// Ticks kept in memory.
    public static let maximumTickCount = 256
    /// Changes and refusals kept in memory, over all ticks.
    public static let maximumChangeCount = 20_000
    /// Rough size of the rows and refusals kept in memory, in bytes.
    public static let maximumByteCount = 8 << 20
    /// Changes that a session gets at once, beyond those of one tick.
    public static let maximumPulledChangeCount = 1_000
    /// Users for whom it is remembered when their authority may have changed; beyond them it counts for everybody.
    public static let maximumRememberedUserCount = 10_000
    static let pollInterval = Duration.seconds(1)
    static let retryInterval = Duration.milliseconds(250)

    private let store: any ServerStore
    private let logger: Logger
    private var newest: Tick?
    /// Oldest first; each begins where the one before ends.
    private var ring: [LiveTick] = []
    /// The size of each tick in the ring, the second roughly, in bytes.
    private var sizes: [(changeCount: Int, byteCount: Int)] = []
    private var changeCount = 0
    private var byteCount = 0
    private let grants: @Sendable () -> [GrantColumns]
    private let onNews: @Sendable (AuthorityNews) async -> Void
    /// The newest tick at which what a user may do may have changed; and the same for every user.
    private var changedAt: [String: Int64] = [:]
    private var changedForAllAt: Int64 = 0
    private var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    private var nextWatcher = 0

    /// - Parameters:
    ///   - grants: where rows say what a user may do.
    ///   - onNews: called before a tick is announced that may change what users may do.
    public init(
        store: any ServerStore, grants: @escaping @Sendable () -> [GrantColumns] = { [] },
        onNews: @escaping @Sendable (AuthorityNews) async -> Void = { _ in }, logger: Logger
    ) {
        self.store = store
        self.grants = grants
        self.onNews = onNews
        self.logger = logger
    }

    /// Follows the ticks until cancelled.
    /// - Parameter wakeUps: yields whenever there may be a new tick; the feed also looks by itself now and then.
    public func run(wakeUps: AsyncStream<Void>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in wakeUps { await self.advance() }
            }
            group.addTask {
                while !Task.isCancelled {
                    await self.advance()
                    try? await Task.sleep(for: Self.pollInterval)
                }
            }
            await group.waitForAll()
        }
    }

    /// Yields, without piling up, whenever new ticks are here. Ends when the database turns out to have another history,
    /// in which the numbers of ticks mean something else.
    public func watch() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = nextWatcher
        nextWatcher += 1
        watchers[id] = continuation
        continuation.onTermination = { _ in Task { await self.forget(id) } }
        return stream
    }

    private func forget(_ id: Int) { watchers[id] = nil }

    /// The ticks after one that a session has looked at, oldest first, and whether there are more: beyond the first,
    /// no more than ``maximumPulledChangeCount`` changes come at once. Nil when memory does not reach back to it.
    public func ticks(after number: Int64) -> (ticks: [LiveTick], hasMore: Bool)? {
        guard let newest else { return ([], false) }
        if number >= newest.number { return ([], false) }
        guard let first = ring.firstIndex(where: { $0.previous == number }) else { return nil }
        var end = first + 1
        var count = ring[first].difference.changes.count
        while end < ring.endIndex {
            count += ring[end].difference.changes.count
            guard count <= Self.maximumPulledChangeCount else { break }
            end += 1
        }
        return (Array(ring[first..<end]), end < ring.endIndex)
    }

    /// The newest tick that the feed knows; 0 before the first.
    public var newestNumber: Int64 { newest?.number ?? 0 }

    /// Whether what a user may do may have changed since a tick.
    public func authorityMayHaveChanged(of user: String, after number: Int64) -> Bool {
        max(changedForAllAt, changedAt[user] ?? 0) > number
    }

    /// Takes it that what every user may do may have changed: the model did.
    public func noteNewModel() {
        changedForAllAt = max(newestNumber, changedForAllAt) + 1
        announce()
    }

    private func note(_ difference: TickDifference) async {
        let news = AuthorityNews(difference, grants: grants())
        guard !news.isEmpty else { return }
        await onNews(news)
        if news.hasNewDocuments { changedForAllAt = difference.to }
        for user in news.users { changedAt[user] = difference.to }
        guard changedAt.count > Self.maximumRememberedUserCount else { return }
        changedAt = [:]
        changedForAllAt = difference.to
    }

    private var isAdvancing = false
    private var mustAdvanceAgain = false

    /// Reads what is new; concurrent calls join into one more round.
    private func advance() async {
        guard !isAdvancing else {
            mustAdvanceAgain = true
            return
        }
        isAdvancing = true
        defer { isAdvancing = false }
        repeat {
            mustAdvanceAgain = false
            do {
                try await readNewest()
            } catch is CancellationError {
                return
            } catch let error as PostgresStoreError where error.code == .renamed {
                mustAdvanceAgain = true
            } catch {
                logger.warning("The feed cannot read ticks and tries again: \(error)")
                try? await Task.sleep(for: Self.retryInterval)
                mustAdvanceAgain = !Task.isCancelled
            }
        } while mustAdvanceAgain
    }

    private func readNewest() async throws {
        let latest = try await store.latestTick()
        guard let previous = newest else {
            newest = latest
            announce()
            return
        }
        guard latest != previous else { return }
        if latest.number <= previous.number { return await leaveHistory(for: latest) }
        if previous.number == 0 {
            // The first tick ever: nothing to take a difference from.
            await onNews(.everything)
            changedForAllAt = latest.number
            return restart(at: latest)
        }
        guard let live = try await difference(since: previous) else { return }
        await note(live.difference)
        newest = live.tick
        let size = (changeCount: live.itemCount, byteCount: live.byteCount)
        if size.changeCount > Self.maximumChangeCount || size.byteCount > Self.maximumByteCount {
            restart(at: live.tick)
            return
        }
        ring.append(live)
        sizes.append(size)
        changeCount += size.changeCount
        byteCount += size.byteCount
        while ring.count > Self.maximumTickCount || changeCount > Self.maximumChangeCount
            || byteCount > Self.maximumByteCount
        {
            ring.removeFirst()
            let removed = sizes.removeFirst()
            changeCount -= removed.changeCount
            byteCount -= removed.byteCount
        }
        announce()
    }

    private func difference(since previous: Tick) async throws -> LiveTick? {
        do {
            return try await store.withReader { reader in
                guard reader.tick.number > previous.number else { return nil as LiveTick? }
                let difference = try await reader.difference(from: previous)
                return LiveTick(
                    tick: reader.tick, previous: previous.number, difference: difference,
                    progress: difference.clients.isEmpty ? [:] : try await reader.progress(of: difference.clients))
            }
        } catch {
            // Looked up only now: what is asked for with every tick has to be cheap.
            guard try await store.tick(previous.number)?.token != previous.token else { throw error }
            await leaveHistory(for: try await store.latestTick())
            return nil
        }
    }

    /// The database was restored or replaced. Sessions end: each device learns at its next hello that it must start over.
    private func leaveHistory(for latest: Tick) async {
        logger.notice("The database has another history now: it was restored or replaced. All sessions end.")
        await onNews(.everything)
        changedAt = [:]
        changedForAllAt = latest.number
        restart(at: latest)
        for watcher in watchers.values { watcher.finish() }
        watchers = [:]
    }

    private func restart(at tick: Tick) {
        newest = tick
        ring = []
        sizes = []
        changeCount = 0
        byteCount = 0
        announce()
    }

    private func announce() {
        for watcher in watchers.values { watcher.yield() }
    }
}
