public import PostgresClient

/// Asks the database, on its own connection, what changed since the last call. For a server that caches results
/// derived from rows.
public actor ChangeFollower {
    /// With more changes than this, everything counts as changed.
    public static let changeLimit = 1_000

    private let configuration: PostgresConfiguration
    private let note: String
    private let tell: @Sendable ([ChangelogCursor.Change]?) -> Void
    private var following: (connection: PostgresConnection, cursor: ChangelogCursor)?

    /// - Parameters:
    ///   - applicationName: the connection's name in `pg_stat_activity`.
    ///   - note: an SQL expression to evaluate for each change, see ``ChangelogCursor``.
    ///   - tell: receives the changes, each with a class, or nil if anything may have changed.
    public init(
        _ configuration: PostgresConfiguration, applicationName: String, note: String = "NULL::text",
        tell: @escaping @Sendable ([ChangelogCursor.Change]?) -> Void
    ) {
        var configuration = configuration
        configuration.applicationName = applicationName
        self.configuration = configuration
        self.note = note
        self.tell = tell
    }

    /// Returns once `tell` has received everything that was committed before the call. Don't call it again before it
    /// returns.
    /// - Throws: if the changes can't be read. Anything may have changed then, so `tell` has received nil.
    public func ask() async throws {
        do {
            guard let (connection, cursor) = following else { return try await begin() }
            var next = cursor
            let changes = try await next.changes(connection, note: note, limit: Self.changeLimit)
            following = (connection, next)
            guard let changes, changes.allSatisfy({ $0.className != nil }) else {
                // Too many changes, a restored database, or a new model or new rules.
                await end()
                return try await begin()
            }
            if !changes.isEmpty { tell(changes) }
        } catch is CancellationError {
            // Nothing was told; the next call asks for the same changes again.
            throw CancellationError()
        } catch {
            await end()
            throw error
        }
    }

    private func begin() async throws {
        let connection = try await PostgresConnection.connect(configuration)
        do {
            try await connection.execute(ChangelogCursor.settings)
            following = (connection, try await ChangelogCursor(connection))
            tell(nil)
        } catch {
            await connection.close()
            throw error
        }
    }

    private func end() async {
        tell(nil)
        let connection = following?.connection
        following = nil
        await connection?.close()
    }
}
