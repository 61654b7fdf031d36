import PostgresClient
import TomboloModel
import TomboloPostgresStore

/// Asks the database which rows were changed since it was asked last, on a connection of its own.
actor ChangeFollower {
    /// More changes than this are everything.
    static let changeLimit = 1_000

    private let configuration: PostgresConfiguration
    private let note: String
    private let tell: @Sendable (Set<ObjectId>?) -> Void
    private var following: (connection: PostgresConnection, cursor: ChangelogCursor)?

    /// - Parameters:
    ///   - note: SQL that gives another key for a change, see ``ChangelogCursor``.
    ///   - tell: gets the keys of what was changed, with those that the SQL gave; nil where it may be anything.
    init(
        _ configuration: PostgresConfiguration, note: String, tell: @escaping @Sendable (Set<ObjectId>?) -> Void
    ) {
        var configuration = configuration
        configuration.applicationName = "tombolo-ticket-changes"
        self.configuration = configuration
        self.note = note
        self.tell = tell
    }

    /// Returns when everything has been told that was committed before the call. Calls one after the other.
    /// - Throws: when it can't be found out; anything may have changed then, and that was told.
    func ask() async throws {
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
            guard !changes.isEmpty else { return }
            tell(
                Set(changes.flatMap { [$0.key, $0.note] }.compactMap { $0.flatMap { try? ObjectId(string: $0) } }))
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
