internal import PostgresClient
internal import TomboloChangesets

/// Waits inside the database for something that the newest tick doesn't see. Polling from this process every few
/// milliseconds would wake several of its threads each time; inside the database, it costs one session one index
/// lookup.
///
/// Each look is a transaction of its own, so neither its snapshot nor its locks block anything for longer than that.
enum ChangeWatch {
    /// The time between two looks, which is also how late a change may be noticed.
    static let interval = Duration.milliseconds(5)
    /// How long one statement waits; the caller has other work to do.
    static let limit = Duration.milliseconds(200)

    /// What a look searches for. The values are passed as settings so that the statement's text never changes:
    /// statement statistics keep each distinct text.
    private static let settings = (
        after: "tombolo.watch_after", next: "tombolo.watch_next", running: "tombolo.watch_running"
    )

    /// Needs a session with sequential scans off, like ``StoredTick/hasChanges(beyond:after:)``.
    private static let statement = """
        DO LANGUAGE plpgsql $watch$
        DECLARE
            v_end CONSTANT timestamptz := clock_timestamp() + interval '\(limit.milliseconds) ms';
            v_after CONSTANT bigint := current_setting('\(settings.after)');
            v_next CONSTANT xid8 := current_setting('\(settings.next)');
            v_running CONSTANT xid8[] := current_setting('\(settings.running)');
            v_seen text := '';
            v_snapshot text;
        BEGIN
            LOOP
                -- While nothing is committed there is nothing to look for.
                v_snapshot := pg_current_snapshot()::text;
                EXIT WHEN clock_timestamp() >= v_end OR v_snapshot <> v_seen
                    AND \(StoredTick.hasChanges(after: "v_after", next: "v_next", running: "v_running"));
                v_seen := v_snapshot;
                COMMIT;
                PERFORM pg_sleep(\(interval.milliseconds) / 1000.0);
                COMMIT;
            END LOOP;
        END
        $watch$
        """

    /// Returns when there are changes that a tick doesn't see, or after ``limit``.
    static func wait(on connection: PostgresConnection, beyond last: StoredTick) async throws {
        var statements: [PostgresStatement] = []
        // The previous query may have left a transaction open.
        if connection.transactionStatus != .idle { statements.append("ROLLBACK") }
        let snapshot = last.tick.snapshot
        statements.append(
            PostgresStatement(
                "SELECT set_config('\(settings.after)', $1, false), set_config('\(settings.next)', $2, false), "
                    + "set_config('\(settings.running)', $3, false)",
                [
                    .text(String(last.firstSequence)), .text(String(snapshot.xmax)), .text(snapshot.runningText),
                ]))
        _ = try await connection.pipeline(statements)
        // On its own, because it can't end transactions when it is part of one.
        try await connection.execute(statement)
    }
}
