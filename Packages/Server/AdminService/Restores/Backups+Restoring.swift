import Foundation
import Logging
import PostgresClient
import Synchronization
import TomboloModel

/// Restoring: a backup is restored into a new database beside the one in use, and then the two are swapped. See
/// docs/adr/0071.
extension Backups {
    /// Does a requested restore. May only be called while no other process makes or restores a backup.
    ///
    /// Errors are recorded in the run and in the log; the database is then unchanged.
    /// - Parameter now: microseconds since 1970.
    func restore(_ source: RestoreSource, by user: ObjectId, _ now: Int64) async throws {
        defer { note(nil) }
        let (id, userName) = try await restores.begin(source.text, by: user, at: now)
        let run = RestoreRun(
            source: source.text, userName: userName, startedAt: now, finishedAt: nil, problem: nil, kept: nil)
        logger.notice("\(userName) is restoring \(source.text).")
        do {
            let kept = try await replace(with: source, run, by: user, now)
            logger.notice("Restored \(source.text). The previous database is now called \(kept).")
        } catch is CancellationError {
            // The next server to start marks the run as interrupted.
            throw CancellationError()
        } catch {
            let message = (error as? PostgresError)?.message ?? String(describing: error)
            let failure = error as? BackupFailure ?? BackupFailure(message)
            logger.error("\(source.text) wasn't restored: \(failure)")
            try await restores.fail(id, failure)
        }
    }

    /// - Returns: the new name of the database that was in use until then.
    private func replace(
        with source: RestoreSource, _ run: RestoreRun, by user: ObjectId, _ now: Int64
    ) async throws -> String {
        note(.checking)
        let began = ContinuousClock.now
        return try await withMaintenance { restoring, maintenance in
            let names = try await RestoreCheck(pool, maintenance).names
            guard try await RestoreConnection.lock(names.current, maintenance) else { throw BackupFailure.restoreBusy }
            do {
                let kept = try await replace(names, with: source, run, by: user, now, began, restoring, maintenance)
                await RestoreConnection.unlock(names.current, maintenance)
                return kept
            } catch {
                await RestoreConnection.unlock(names.current, maintenance)
                throw error
            }
        }
    }

    /// The same, holding the lock against other restores.
    /// - Parameter began: the moment at which `now` was read.
    private func replace(
        _ names: DatabaseNames, with source: RestoreSource, _ run: RestoreRun, by user: ObjectId, _ now: Int64,
        _ began: ContinuousClock.Instant, _ restoring: RestoreSettings, _ maintenance: PostgresConnection
    ) async throws -> String {
        let shape = try await DatabaseShape(of: names.current, maintenance)
        let next: String
        switch source {
        case .backup: next = names.next
        case .kept(let name): next = name
        }
        do {
            if case .backup(let name) = source {
                try await fill(names.next, with: name, shape, restoring, maintenance)
            }
            note(.preparing)
            try await prepare(next, restoring)
            // People have worked in the old database until now, so its name gets the current time.
            let kept = names.kept(at: now + (ContinuousClock.now - began).components.seconds * 1_000_000)
            let run = run.keeping(kept)
            if case .backup = source {
                try await RestoreConnection.with(restoring.database.database(next)) { connection in
                    try await Self.becomeOwner(connection)
                    try await RestoreHistory.note(run, by: user, connection)
                }
                try await shape.grant(next, maintenance)
            }
            note(.swapping)
            try await DatabaseSwap(
                current: names.current, next: next, kept: kept, maintenance: restoring.database
            ).run(maintenance)
            await noteSwap(run, source, by: user, names, restoring)
            return kept
        } catch {
            if case .backup = source { await drop(names.next, maintenance) }
            throw error
        }
    }

    /// Brings a database up to the version that the servers need.
    private func prepare(_ database: String, _ restoring: RestoreSettings) async throws {
        try await RestoreConnection.with(restoring.database.database(database)) { connection in
            // Without statistics, everything would be slow at first.
            try await connection.execute("ANALYZE")
            try await Self.becomeOwner(connection)
            try await restoring.prepare(connection)
        }
    }

    /// From here on, new objects belong to the owner of Tombolo's tables.
    private static func becomeOwner(_ connection: PostgresConnection) async throws {
        let found = try await connection.query(
            "SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = to_regclass('tombolo.document')")
        guard let row = found.first else {
            throw BackupFailure("The backup has none of Tombolo's tables: it's from another database.")
        }
        try await connection.execute("SET ROLE \(PostgresSQL.quoteIdentifier(try row[0].string))")
    }

    /// Records in the database that was put aside that it has been replaced, and in one that was brought back that
    /// it's in use again. A restored database already has this record.
    private func noteSwap(
        _ run: RestoreRun, _ source: RestoreSource, by user: ObjectId, _ names: DatabaseNames,
        _ restoring: RestoreSettings
    ) async {
        do {
            if case .kept = source {
                try await RestoreConnection.with(restoring.database.database(names.current)) { connection in
                    try await Self.becomeOwner(connection)
                    try await RestoreHistory.note(run, by: user, connection)
                }
            }
            try await RestoreConnection.with(restoring.database.database(run.kept ?? "")) { connection in
                try await Self.becomeOwner(connection)
                try await RestoreHistory.note(run, by: nil, connection)
            }
        } catch {
            logger.warning("Can't record in every database that \(run.kept ?? "one") was put aside: \(error)")
        }
    }

    /// Restores a backup into a new database.
    private func fill(
        _ database: String, with name: BackupName, _ shape: DatabaseShape, _ restoring: RestoreSettings,
        _ maintenance: PostgresConnection
    ) async throws {
        guard
            let path = restoring.program
                ?? PostgresProgram.find("pg_restore", ProcessInfo.processInfo.environment["PATH"])
        else { throw BackupFailure.noRestoreProgram }
        if let problem = folder.problem { throw BackupFailure(problem) }
        note(.making)
        try await RestoreConnection.drop(database, maintenance)
        try await shape.create(database, maintenance)
        note(.restoring)
        try await RestoreProgram(path: path, database: restoring.database.database(database))
            .run(from: "\(folder.path)/\(name.text)")
    }

    /// Drops the database that an interrupted restore left, and ends its run. Does nothing while a restore is in
    /// progress.
    func tidyUpRestores() async throws {
        guard try await restores.hasUnfinished() else { return }
        if restoring != nil {
            let isOver = try await withMaintenance { _, maintenance in
                let names = DatabaseNames(
                    current: try await pool.query("SELECT current_database()::text")[0, 0].string)
                guard try await RestoreConnection.lock(names.current, maintenance) else { return false }
                await drop(names.next, maintenance)
                await RestoreConnection.unlock(names.current, maintenance)
                return true
            }
            guard isOver else { return }
        }
        for source in try await restores.failUnfinished(.restoreInterrupted) {
            logger.warning("Restoring \(source) was interrupted. The database is unchanged.")
        }
    }

    /// Drops a database that nothing uses. If that fails, the next restore drops it.
    private func drop(_ database: String, _ maintenance: PostgresConnection) async {
        do {
            // In a separate task, so that it also runs while this process shuts down.
            try await Task { try await RestoreConnection.drop(database, maintenance) }.value
        } catch {
            logger.warning("Can't drop the database \(database), which a restore left behind: \(error)")
        }
    }

    private func note(_ step: RestoreStep?) { state.withLock { $0.step = step } }

    /// Connects as the user of `TOMBOLO_RESTORE_URL`.
    /// - Throws: ``BackupFailure`` if that fails.
    func withMaintenance<R: Sendable>(
        _ body: @Sendable (RestoreSettings, PostgresConnection) async throws -> R
    ) async throws -> R {
        guard let restoring else {
            throw BackupFailure("\(RestoreSettings.databaseVariable) isn't set on this server.")
        }
        return try await RestoreConnection.with(restoring.database, searchPath: "pg_catalog") {
            try await body(restoring, $0)
        }
    }
}

extension RestoreRun {
    /// The same run, with the name of the database that was put aside.
    fileprivate func keeping(_ database: String) -> RestoreRun {
        RestoreRun(
            source: source, userName: userName, startedAt: startedAt, finishedAt: finishedAt, problem: problem,
            kept: database)
    }
}
