import PostgresClient
package import TomboloHTTP
package import TomboloModel
import TomboloPostgresStore
import TomboloLocalization

extension Schedule {
    /// If a run began longer ago than this, its process is assumed to be dead, and another run may be requested.
    package static let longestRun = Duration.seconds(15 * 60)

    /// Makes a run due now. A server that does this work begins it within ``Routine/lookInterval``, and the audit log
    /// records who asked. Nothing changes if a run is due already.
    /// - Throws: ``RequestFailure`` with status 404 for work that can't be requested, and 409 if it's running or has
    ///   never run.
    package func ask(for kind: ScheduledWork.Kind, by user: ObjectId) async throws {
        guard let routine = kind.routine else { throw Self.unknown }
        let name = PostgresParameter.text(routine.rawValue)
        try await pool.transaction { connection in
            let found = try await connection.query(
                """
                SELECT next_at <= clock_timestamp(),
                    finished_at < started_at AND started_at > clock_timestamp() - make_interval(secs => $2)
                FROM tombolo.routine WHERE name = $1 FOR UPDATE
                """, [name, .double(Self.longestRun / .seconds(1))])
            guard let row = found.first else {
                throw RequestFailure(
                    .conflict, localized("No server has ever run this job."),
                    hint: localized("It runs by itself as soon as a server that runs it is started."))
            }
            if try row[0].bool { return }
            if try row[1].bool { throw RequestFailure(.conflict, localized("This job is already running.")) }
            try await connection.query(
                "UPDATE tombolo.routine SET next_at = clock_timestamp() WHERE name = $1", [name])
            try await connection.query(
                "INSERT INTO tombolo.panel_run (user_id, routine) VALUES ($1, $2)", [.bytea(user.bytes), name])
        }
    }

    package static var unknown: RequestFailure {
        RequestFailure(.notFound, localized("There is no job with this name that you can run."))
    }
}
