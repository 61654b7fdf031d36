import Synchronization

/// Tells streams of events that something in the database may have changed: each of them looks for itself, with its own
/// reader's eyes, and so learns of nothing that its reader may not see.
final class TickBell: Sendable {
    /// Streams at a time, of all users.
    static let maximumCount = 200
    /// Streams of one user at a time: pages that are open side by side. The newest counts: that a page was left is often noticed
    /// only when something is written to its stream.
    static let maximumCountOfUser = 8

    struct Listening: Sendable {
        let rings: AsyncStream<Void>
        /// Ends the rings.
        let stop: @Sendable () -> Void
    }

    private struct State {
        var lastID = 0
        /// Bounded by ``maximumCount``.
        var listeners: [Int: (user: String, continuation: AsyncStream<Void>.Continuation)] = [:]

        func hasRoom(for user: String) -> Bool {
            listeners.count < TickBell.maximumCount || listeners.values.contains { $0.user == user }
        }

        /// Removes the oldest stream of a user who has too many for one more, or who has one where there are too many in all.
        mutating func makeRoom(for user: String) -> AsyncStream<Void>.Continuation? {
            let own = listeners.filter { $0.value.user == user }
            guard own.count >= TickBell.maximumCountOfUser || listeners.count >= TickBell.maximumCount,
                let oldest = own.keys.min()
            else { return nil }
            return listeners.removeValue(forKey: oldest)?.continuation
        }
    }

    private let state = Mutex(State())

    /// Rings until the stream's reader stops reading, or the user has too many newer ones. A stream that isn't read yet holds
    /// one ring.
    /// - Returns: nil if there are too many streams of others already.
    func listen(user: String) -> Listening? {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (id, oldest): (Int?, AsyncStream<Void>.Continuation?) = state.withLock { state in
            guard state.hasRoom(for: user) else { return (nil, nil) }
            let oldest = state.makeRoom(for: user)
            state.lastID += 1
            state.listeners[state.lastID] = (user, continuation)
            return (state.lastID, oldest)
        }
        oldest?.finish()
        guard let id else { return nil }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        // What happened before is looked for at once.
        continuation.yield()
        return Listening(rings: stream) { continuation.finish() }
    }

    /// Whether one more stream of a user would ring.
    func hasRoom(for user: String) -> Bool { state.withLock { $0.hasRoom(for: user) } }

    /// The number of streams.
    var count: Int { state.withLock { $0.listeners.count } }

    func ring() {
        for (_, continuation) in state.withLock({ Array($0.listeners.values) }) { continuation.yield() }
    }
}
