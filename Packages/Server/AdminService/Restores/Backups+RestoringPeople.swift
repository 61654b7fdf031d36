import PostgresClient
import Synchronization
import TomboloHTTP
import TomboloLocalization
package import TomboloModel

/// Actions of people on restores. The callers have already checked the permissions.
extension Backups {
    package struct RestoreOverview: Sendable {
        /// The restore that is in progress or waiting, on any server. Its step is known only for this server's.
        package let current: (source: String, step: RestoreStep?)?
        /// Failed and successful runs, newest first.
        package let runs: [RestoreRun]
        /// Newest first.
        package let kept: [KeptDatabase]
        /// Why nothing can be restored, or why the databases that were put aside can't be listed.
        package let problem: String?
    }

    /// Whether this server can restore backups at all.
    package var canRestore: Bool { restoring != nil }

    /// Nil if this server restores nothing.
    package func restoreOverview() async throws -> RestoreOverview? {
        guard restoring != nil else { return nil }
        let runs = try await restores.runs()
        let (wish, step) = state.withLock { ($0.wish, $0.step) }
        var current: (source: String, step: RestoreStep?)?
        if case .restoring(let source) = wish?.work {
            current = (source.text, step)
        } else if let run = runs.first(where: { $0.finishedAt == nil }) {
            current = (run.source, nil)
        }
        let ended = runs.filter { $0.finishedAt != nil }
        do {
            let kept = try await withMaintenance { _, connection in try await keptDatabases(connection) }
            return RestoreOverview(current: current, runs: ended, kept: kept, problem: nil)
        } catch let failure as BackupFailure {
            return RestoreOverview(current: current, runs: ended, kept: [], problem: failure.description)
        } catch let error as PostgresError {
            return RestoreOverview(current: current, runs: ended, kept: [], problem: error.message)
        }
    }

    private func keptDatabases(_ maintenance: PostgresConnection) async throws -> [KeptDatabase] {
        let names = try await RestoreCheck(pool, maintenance).names
        return try await maintenance.query(
            """
            SELECT datname::text, CASE WHEN has_database_privilege(oid, 'CONNECT') THEN pg_database_size(oid) END
            FROM pg_database WHERE starts_with(datname::text, $1)
            """, [.text(names.current)]
        ).compactMap { row in
            let name = try row[0].string
            return try names.time(ofKept: name).map {
                KeptDatabase(name: name, time: $0, byteCount: try row[1].nonNull?.int64)
            }
        }.sorted { $0.time > $1.time }
    }

    /// The database with this name, looked up among those that were put aside.
    /// - Throws: ``RequestFailure`` with status 404 if there is none.
    package func findKept(_ name: String) async throws -> KeptDatabase {
        let kept = try await restoreOverview()?.kept ?? []
        guard let found = kept.first(where: { $0.name == name }) else {
            throw RequestFailure(
                .notFound, localized("There is no such database."),
                hint: localized("It may have been deleted, or be in use again. The list shows the existing ones."))
        }
        return found
    }

    /// Checks whether a restore is possible.
    /// - Returns: why it isn't, and what to do about it; nil if it is.
    package func restoreProblem() async throws -> String? {
        do {
            try await withMaintenance { _, connection in _ = try await RestoreCheck(pool, connection) }
            return nil
        } catch let failure as BackupFailure {
            return failure.description
        }
    }

    /// The most changes that are counted.
    package static let maximumChangeCount = 100_000

    /// The number of changes to rows and accounts in the audit log since a moment, counted up to
    /// ``maximumChangeCount`` plus one.
    /// - Parameter time: microseconds since 1970.
    package func changeCount(since time: Int64) async throws -> Int {
        Int(
            try await pool.query(
                """
                SELECT count(*) FROM (
                    SELECT FROM tombolo.audit_entry WHERE at > $1 LIMIT \(Self.maximumChangeCount + 1)) AS found
                """, [.timestamptz(microseconds: time)])[0, 0].int64)
    }

    /// Requests a restore, which begins as soon as nothing else is in progress in this process.
    package func ask(toRestore source: RestoreSource, by user: ObjectId) async throws {
        try await ask(.restoring(source), by: user) { [restores] in
            try await restores.note(.requested, source.text, by: user)
        }
    }

    /// Permanently deletes a database that was put aside.
    package func delete(_ kept: KeptDatabase, by user: ObjectId) async throws {
        try await restores.note(.deleted, kept.name, by: user) {
            try await withMaintenance { _, connection in try await RestoreConnection.drop(kept.name, connection) }
        }
    }
}
