internal import Logging
internal import NIOCore
internal import PostgresClient
internal import Synchronization
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloPostgresStore
internal import TomboloRules
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// Reads each tick once for the whole gateway, matches it against the views of all sessions at once, and tells the
/// sessions that it concerns; see ``TomboloSyncSession/LiveFeed``. The newest ticks stay in memory for sessions that
/// fall slightly behind. A session that falls more than ``maximumTickCount`` behind reads the changelog itself.
///
/// Requests of sessions come in through ``send(_:)``, in order. Answers go to the sessions' event loops, also in
/// order and batched by event loop, so that ``FeedPosition`` always agrees with what was sent before it.
public actor TickFeed {
    /// Ticks kept in memory. At 50 ticks a second that's more than a minute, while an idle device's position is up to
    /// 50 seconds old.
    public static let maximumTickCount = 4_096
    /// Changes and refusals kept in memory, over all ticks.
    public static let maximumChangeCount = 20_000
    /// Approximate bytes of the rows and refusals kept in memory.
    public static let maximumByteCount = 8 << 20
    /// The most users for whom the feed remembers when their authority may have changed. With more, it assumes a
    /// change for everybody.
    public static let maximumRememberedUserCount = 10_000
    static let pollInterval = Duration.seconds(1)
    static let retryInterval = Duration.milliseconds(250)

    private let store: any ServerStore
    private let backlog: UploadBacklog
    private let onRoom: @Sendable () async -> Void
    private let logger: Logger
    private var live: LiveFeed<FeedMember>
    private var hasBegun = false
    private let grants: @Sendable () -> [GrantColumns]
    private let onNews: @Sendable (AuthorityNews) async -> Void
    private let onTick: @Sendable (TickReport) -> Void
    private let traces: UploadTraces
    /// For each user, the newest tick at which what they may do may have changed. The second is the same for all
    /// users.
    private var changedAt: [String: Int64] = [:]
    private var changedForAllAt: Int64 = 0
    /// All sessions of the feed, by user. They hear of changes to what their user may do, whether or not they follow
    /// the ticks.
    private var sessions: [String: Set<SessionKey>] = [:]
    private var positions: [ObjectIdentifier: FeedPosition] = [:]
    /// Bounded by the sessions: each has one request at a time, and withdraws it at most once.
    private nonisolated let requests: AsyncStream<Request>
    private nonisolated let addRequest: AsyncStream<Request>.Continuation

    private struct SessionKey: Hashable {
        let session: SessionRunner

        static func == (left: SessionKey, right: SessionKey) -> Bool { left.session === right.session }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(session)) }
    }

    /// A session's request.
    enum Request: Sendable {
        /// Hear of changes to what the session's user may do.
        case enter(SessionRunner, user: String)
        case leave(SessionRunner, user: String)
        /// Hear of ticks.
        /// - Parameters:
        ///   - authorityTick: the tick up to which the session knows what its user may do. Nil follows the ticks even
        ///     if that may have changed since.
        case follow(LiveFeed<FeedMember>.Request, authorityTick: Int64?)
        case unfollow(FeedMember)
    }

    /// - Parameters:
    ///   - grants: the columns from which rows grant users something.
    ///   - onNews: called for a tick that may change what users may do, before it is announced.
    ///   - onTick: receives a report on each matched tick.
    ///   - backlog: what was uploaded but not announced yet.
    ///   - onRoom: called when uploads that wait for the feed may continue.
    init(
        store: any ServerStore, grants: @escaping @Sendable () -> [GrantColumns] = { [] },
        onNews: @escaping @Sendable (AuthorityNews) async -> Void = { _ in },
        onTick: @escaping @Sendable (TickReport) -> Void = { _ in }, traces: UploadTraces = UploadTraces(),
        backlog: UploadBacklog = UploadBacklog(), onRoom: @escaping @Sendable () async -> Void = {}, logger: Logger
    ) {
        self.backlog = backlog
        self.onRoom = onRoom
        self.store = store
        self.grants = grants
        self.onNews = onNews
        self.onTick = onTick
        self.traces = traces
        self.logger = logger
        live = LiveFeed(
            schema: store.schema,
            bounds: .init(
                tickCount: Self.maximumTickCount, itemCount: Self.maximumChangeCount, byteCount: Self.maximumByteCount))
        (requests, addRequest) = AsyncStream.makeStream()
    }

    /// Follows the ticks until cancelled.
    /// - Parameter wakeUps: yields whenever there may be a new tick. The feed also polls.
    public func run(wakeUps: AsyncStream<Void>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in wakeUps { await self.advance() }
            }
            group.addTask {
                for await request in self.requests { await self.serve(request) }
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

    /// Sends a request. The answer arrives on the session's event loop. May be called from any thread.
    nonisolated func send(_ request: Request) { addRequest.yield(request) }

    private func serve(_ request: Request) {
        switch request {
        case .enter(let session, let user): sessions[user, default: []].insert(SessionKey(session: session))
        case .leave(let session, let user):
            sessions[user]?.remove(SessionKey(session: session))
            if sessions[user]?.isEmpty == true { sessions[user] = nil }
        case .unfollow(let member): live.leave(member)
        case .follow(let request, let authorityTick): follow(request, authorityTick)
        }
    }

    private func follow(_ request: LiveFeed<FeedMember>.Request, _ authorityTick: Int64?) {
        let member = request.member
        if let authorityTick, authorityMayHaveChanged(of: request.user, after: authorityTick) {
            return post(to: member.session) { $0.authorityMayHaveChanged() }
        }
        let position = position(on: member.session.eventLoop)
        guard let answer = live.follow(request) else { return }
        post(to: member.session) { $0.take(answer, member.number, position) }
    }

    private nonisolated func post(
        to session: SessionRunner, _ body: @escaping @Sendable (isolated SessionRunner) -> Void
    ) {
        session.eventLoop.execute { session.assumeIsolated(body) }
    }

    private func position(on loop: any EventLoop) -> FeedPosition {
        let key = ObjectIdentifier(loop)
        if let known = positions[key] { return known }
        let position = FeedPosition(on: loop)
        positions[key] = position
        let newest = live.newest
        loop.execute { position.tick = newest }
        return position
    }

    /// The feed's current figures.
    struct Figures: Sendable {
        let newest: Tick
        let tickCount: Int
        let itemCount: Int
        let byteCount: Int
        let viewCount: Int
        let memberCount: Int
    }

    var figures: Figures {
        Figures(
            newest: live.newest, tickCount: live.ring.tickCount, itemCount: live.ring.itemCount,
            byteCount: live.ring.byteCount, viewCount: live.viewCount, memberCount: live.memberCount)
    }

    /// The newest tick that the feed knows, or 0 before the first.
    public var newestNumber: Int64 { live.newest.number }

    /// Whether what a user may do may have changed since a tick.
    public func authorityMayHaveChanged(of user: String, after number: Int64) -> Bool {
        max(changedForAllAt, changedAt[user] ?? 0) > number
    }

    /// Treats what every user may do as possibly changed, because the model changed.
    public func noteNewModel() {
        changedForAllAt = max(newestNumber, changedForAllAt) + 1
        tellOfAuthority(nil)
    }

    private func note(_ difference: TickDifference) async {
        let news = AuthorityNews(difference, grants: grants())
        guard !news.isEmpty else { return }
        await onNews(news)
        if news.hasNewDocuments { changedForAllAt = difference.to }
        for user in news.users { changedAt[user] = difference.to }
        // These sessions stay at the previous tick until they know what their users may see at this one.
        tellOfAuthority(news.hasNewDocuments ? nil : news.users)
        guard changedAt.count > Self.maximumRememberedUserCount else { return }
        changedAt = [:]
        changedForAllAt = difference.to
    }

    /// - Parameter users: the users whose sessions to tell, or nil for all users.
    private func tellOfAuthority(_ users: Set<String>?) {
        for member in users.map(live.members(of:)) ?? live.members { live.leave(member) }
        let concerned = users.map { users in users.flatMap { sessions[$0] ?? [] } } ?? sessions.values.flatMap { $0 }
        for key in concerned { post(to: key.session) { $0.authorityMayHaveChanged() } }
    }

    private var isAdvancing = false
    private var mustAdvanceAgain = false

    /// Reads what is new. Concurrent calls share one more round.
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
            } catch PostgresPoolError.shutDown {
                // The gateway is shutting down.
                return
            } catch let error as PostgresStoreError where error.code == .renamed {
                mustAdvanceAgain = true
            } catch {
                logger.warning("Can't read ticks; retrying: \(error)")
                try? await Task.sleep(for: Self.retryInterval)
                mustAdvanceAgain = !Task.isCancelled
            }
        } while mustAdvanceAgain
    }

    private func readNewest() async throws {
        let mark = backlog.mark
        let before = live.newest
        try await readNewestTick()
        // A transaction that was in flight may only appear in a later tick, so the bound is approximate.
        if live.newest != before, backlog.tell(mark) { await onRoom() }
    }

    private func readNewestTick() async throws {
        let latest = try await store.latestTick()
        guard hasBegun else {
            hasBegun = true
            return restart(at: latest)
        }
        let previous = live.newest
        guard latest != previous else { return }
        if latest.number <= previous.number { return await leaveHistory(for: latest) }
        if previous.number == 0 {
            // The first tick ever: there is nothing to compare it with.
            await onNews(.everything)
            changedForAllAt = latest.number
            return restart(at: latest)
        }
        guard var next = try await difference(since: previous) else { return }
        var trace = traces.begin(&next)
        await note(next.difference)
        let began = ContinuousClock.now
        guard let announcement = live.advance(next) else { return restart(at: next.tick) }
        onTick(TickReport(next, announcement, matching: began.duration(to: .now)))
        trace?.matched(toldCount: announcement.batches.reduce(0) { $0 + $1.members.count })
        announce(announcement)
        trace?.sent()
    }

    /// Tells the sessions that a tick concerns, and tells every event loop that the tick is announced.
    private func announce(_ announcement: LiveFeed<FeedMember>.Announcement) {
        var told: [ObjectIdentifier: [@Sendable () -> Void]] = [:]
        for (members, batch) in announcement.batches {
            let content = LiveContent(batch)
            var byLoop: [ObjectIdentifier: [FeedMember]] = [:]
            for member in members { byLoop[ObjectIdentifier(member.session.eventLoop), default: []].append(member) }
            for (loop, members) in byLoop {
                told[loop, default: []].append {
                    for member in members { member.session.assumeIsolated { $0.take(content, member.number) } }
                }
            }
        }
        for member in announcement.aside {
            told[ObjectIdentifier(member.session.eventLoop), default: []].append {
                member.session.assumeIsolated { $0.followingEnded(member.number) }
            }
        }
        for (key, position) in positions {
            let told = told[key] ?? []
            let tick = announcement.tick
            position.execute {
                for tell in told { tell() }
                position.tick = tick
            }
        }
        for (member, answer) in announcement.answers {
            let position = position(on: member.session.eventLoop)
            post(to: member.session) { $0.take(answer, member.number, position) }
        }
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
            // Only checked after an error, because what runs at every tick has to be cheap.
            guard try await store.tick(previous.number)?.token != previous.token else { throw error }
            await leaveHistory(for: try await store.latestTick())
            return nil
        }
    }

    /// The database was restored or replaced. All sessions end, and each device learns at its next hello that it must
    /// start over.
    private func leaveHistory(for latest: Tick) async {
        logger.notice("The database was restored or replaced. Ending all sessions.")
        await onNews(.everything)
        changedAt = [:]
        changedForAllAt = latest.number
        restart(at: latest)
        endSessions()
    }

    /// Ends the sessions, because what they know belongs to a different history than the database's.
    func endSessions() {
        for key in sessions.values.joined() {
            post(to: key.session) { $0.handle(.failed(.historyLost)) }
        }
    }

    private func restart(at tick: Tick) {
        for member in live.restart(at: tick) { post(to: member.session) { $0.handle(.ticksGone(member.number)) } }
        for position in positions.values { position.execute { position.tick = tick } }
    }
}

extension SessionFailure {
    /// The device's position belongs to a different history than the database's.
    static let historyLost = SessionFailure(
        .unavailable, "The server's database was restored or replaced; reconnect.", isRetryable: true)
}
