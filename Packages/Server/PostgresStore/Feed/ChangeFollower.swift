public import PostgresClient

/// Asks the database what was changed since it was asked last, on a connection of its own, for a server that keeps what it
/// made of rows.
public actor ChangeFollower {
    /// More changes than this are everything.
    public static let changeLimit = 1_000

    private let configuration: PostgresConfiguration
    private let note: String
    private let tell: @Sendable ([ChangelogCursor.Change]?) -> Void
    private var following: (connection: PostgresConnection, cursor: ChangelogCursor)?

    /// - Parameters:
    ///   - applicationName: of the connection, as `pg_stat_activity` shows it.
    ///   - note: SQL for something else about each change, see ``ChangelogCursor``.
    ///   - tell: gets what was changed, each with a class; nil where it may be anything.
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

    /// Returns when everything has been told that was committed before the call. Calls one after the other.
    /// - Throws: when it can't be found out; anything may have changed then, and that was told.
    public func ask() async throws {
        do {
            guard let (connection, cursor) = following else { return try await begin() }
            var next = cursor
            let changes = try await next.changes(connection, note: note, limit: Self.changeLimit)
            following = (connection, next)
            guard let changes, changes.allSatisfy({ $0.className != nil }) else {
                // Too many, a restored database, or new models or rules.
                await end()
                return try await begin()
            }
            if !changes.isEmpty { tell(changes) }
        } catch is CancellationError {
            // Nothing was told; the next call asks for the same again.
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
