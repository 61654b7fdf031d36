import Synchronization

/// Tells event streams that something in the database may have changed. Each stream then checks for itself with its
/// reader's permissions, so it learns nothing that its reader may not see.
final class TickBell: Sendable {
    /// The maximum number of streams, for all users together.
    static let maximumCount = 200
    /// The maximum number of streams for one user, such as pages open side by side. A new stream replaces the oldest:
    /// often, the server notices that a page was closed only when it writes to the stream.
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

        /// Removes the user's oldest stream if the user has reached the limit, or if there are too many streams in all
        /// and this user has one.
        mutating func makeRoom(for user: String) -> AsyncStream<Void>.Continuation? {
            let own = listeners.filter { $0.value.user == user }
            guard own.count >= TickBell.maximumCountOfUser || listeners.count >= TickBell.maximumCount,
                let oldest = own.keys.min()
            else { return nil }
            return listeners.removeValue(forKey: oldest)?.continuation
        }
    }

    private let state = Mutex(State())

    /// Rings until the reader stops reading, or until newer streams of the user replace this one. An unread stream
    /// buffers one ring.
    /// - Returns: nil if there are already too many streams of others.
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
        // Check at once for earlier changes.
        continuation.yield()
        return Listening(rings: stream) { continuation.finish() }
    }

    /// Whether another stream of this user would be accepted.
    func hasRoom(for user: String) -> Bool { state.withLock { $0.hasRoom(for: user) } }

    var count: Int { state.withLock { $0.listeners.count } }

    func ring() {
        for (_, continuation) in state.withLock({ Array($0.listeners.values) }) { continuation.yield() }
    }
}
