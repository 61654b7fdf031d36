internal import TomboloChangesets
internal import TomboloSyncSession

/// Selects the sessions that somebody wants to see.
struct SessionFilter: Sendable {
    var number: UInt64?
    var client: ClientID?
    var user: String?
    var state: ServerSession.State?

    func includes(_ session: isolated SessionRunner) -> Bool {
        if let number, session.number != number { return false }
        if let client, session.session.clientID != client { return false }
        if let user, session.authority?.user != user { return false }
        if let state, session.session.state != state { return false }
        return true
    }
}

extension SessionClocks {
    /// The sessions that match a filter, oldest first.
    func sessions(_ filter: SessionFilter) async -> [SessionRunner] {
        var found: [SessionRunner] = []
        await forEachPart { sessions in
            sessions.filter { session in session.assumeIsolated { filter.includes($0) } }
        } take: {
            found += $0
        }
        return found.sorted { $0.number < $1.number }
    }
}
