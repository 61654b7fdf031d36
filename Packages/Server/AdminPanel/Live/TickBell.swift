import Synchronization

/// Tells streams of events that something in the database may have changed: each of them looks for itself, with its own
/// reader's eyes, and so learns of nothing that its reader may not see.
final class TickBell: Sendable {
    /// Streams at a time, of all users.
    static let maximumCount = 200
    /// Streams of one user at a time: pages that are open side by side.
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
            listeners.count < TickBell.maximumCount
                && listeners.values.count(where: { $0.user == user }) < TickBell.maximumCountOfUser
        }
    }

    private let state = Mutex(State())

    /// Rings until the stream's reader stops reading.
    /// - Returns: nil if there are too many streams already. A stream that isn't read yet holds one ring.
    func listen(user: String) -> Listening? {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id: Int? = state.withLock { state in
            guard state.hasRoom(for: user) else { return nil }
            state.lastID += 1
            state.listeners[state.lastID] = (user, continuation)
            return state.lastID
        }
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
