/// The kind of pooler between a connection and PostgreSQL, as far as statements can tell.
public enum PostgresPooling: Sendable {
    /// No pooler.
    case none
    /// A pooler that gives each connection its own PostgreSQL session, such as PgBouncer in session mode.
    case session
    /// A pooler that may give each transaction a different session, such as PgBouncer in transaction mode. Nothing
    /// outlasts a transaction there: not LISTEN, settings or locks, and not prepared statements unless the pooler
    /// recreates them.
    case transaction
}

extension PostgresConnection {
    /// How many times to check which sessions the statements reach. Other clients of the pooler may take a session
    /// between two checks, but not every time.
    private static let poolingLooks = 8

    /// Detects the kind of pooler from the sessions that statements reach. Behind a pooler, it opens one more
    /// connection for that.
    ///
    /// A pooler reports its own process number to the client, for cancel requests. If that shows a pooler, two
    /// connections take turns: if each has its own session, each keeps reaching the same session, and never the
    /// other's.
    public func pooling() async throws -> PostgresPooling {
        let own = try await sessionProcess()
        guard own != processID else { return .none }
        let other = try await PostgresConnection.connect(configuration)
        do {
            let others = try await other.sessionProcess()
            var isShared = others == own
            if !isShared { isShared = try await wander([(self, own), (other, others)]) }
            await other.close()
            return isShared ? .transaction : .session
        } catch {
            await other.close()
            throw error
        }
    }

    /// Whether a connection reaches a different session than before.
    private func wander(_ places: [(connection: PostgresConnection, process: Int32?)]) async throws -> Bool {
        for _ in 0..<Self.poolingLooks {
            for (connection, process) in places {
                guard try await connection.sessionProcess() == process else { return true }
            }
        }
        return false
    }

    /// The server process that a statement reaches. The query that asks is never kept prepared.
    private func sessionProcess() async throws -> Int32? {
        Int32(try await execute("SELECT pg_backend_pid()::text")[0][0, 0].string)
    }
}
