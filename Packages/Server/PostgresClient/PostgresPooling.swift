/// What stands between a connection and PostgreSQL, as far as statements notice it.
public enum PostgresPooling: Sendable {
    /// Nothing.
    case none
    /// A pooler, such as PgBouncer in session mode, that gives each connection a session of PostgreSQL's to itself.
    case session
    /// A pooler, such as PgBouncer in transaction mode, that gives each transaction any session. What should last beyond a
    /// transaction doesn't: LISTEN, settings, locks, and prepared statements unless the pooler makes them anew.
    case transaction
}

extension PostgresConnection {
    /// How often it is looked which sessions statements reach. Other clients of a pooler may take a session between two
    /// looks, but not each time.
    private static let poolingLooks = 8

    /// Finds out by what statements reach. Through a pooler it opens one more connection for that.
    ///
    /// A pooler answers a connection's request with a process number of its own, for cancellations. Then two connections
    /// take turns: with sessions of their own, each stays where it is, and they are never at the same one.
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

    /// Whether one of the connections reaches another session than it did.
    private func wander(_ places: [(connection: PostgresConnection, process: Int32?)]) async throws -> Bool {
        for _ in 0..<Self.poolingLooks {
            for (connection, process) in places {
                guard try await connection.sessionProcess() == process else { return true }
            }
        }
        return false
    }

    /// The server process that a statement reaches. Asked by a statement that is never kept prepared.
    private func sessionProcess() async throws -> Int32? {
        Int32(try await execute("SELECT pg_backend_pid()::text")[0][0, 0].string)
    }
}
