internal import NIOCore
internal import TomboloChangesets
internal import TomboloSyncSession

/// Visits all sessions without blocking any of them: a twentieth of an event loop's sessions at a time, on that loop.
extension SessionClocks {
    /// How many sessions are in each state, and the oldest tick that a live session is at.
    struct Summary: Sendable {
        var count: [ServerSession.State: Int] = [:]
        var oldestLive: Int64?
    }

    func summary() async -> Summary {
        var summary = Summary()
        await forEachPart { sessions in
            var part = Summary()
            for session in sessions {
                let (state, tick) = session.assumeIsolated { ($0.session.state, $0.reachedTick) }
                part.count[state, default: 0] += 1
                if state == .live { part.oldestLive = min(part.oldestLive ?? tick, tick) }
            }
            return part
        } take: { part in
            summary.count.merge(part.count, uniquingKeysWith: +)
            if let oldest = part.oldestLive { summary.oldestLive = min(summary.oldestLive ?? oldest, oldest) }
        }
        return summary
    }

    /// Visits all sessions in small parts.
    /// - Parameters:
    ///   - look: called on the sessions' event loop.
    ///   - take: receives the result of each call.
    func forEachPart<Result: Sendable>(
        _ look: @escaping @Sendable ([SessionRunner]) -> Result, take: (Result) -> Void
    ) async {
        for clock in all {
            for part in 0..<SessionClock.partCount {
                // Fails only when the event loop shuts down.
                if let result = try? await clock.eventLoop.submit({ look(clock.sessions(ofPart: part)) }).get() {
                    take(result)
                }
            }
        }
    }
}

extension SessionRunner {
    /// The tick up to which the session is known to have been told everything that concerns it.
    var reachedTick: Int64 {
        guard session.isFollowed, let position else { return session.reached.number }
        return max(session.reached.number, position.tick.number)
    }
}
