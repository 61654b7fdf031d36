internal import PostgresClient
internal import TomboloChangesets

/// Waits in the database for something that the newest tick doesn't see. Asking from here every few milliseconds would wake
/// several threads of this process each time; there it costs one session a glance at an index.
///
/// Each glance is a transaction of its own: neither its snapshot nor its locks are in anybody's way for longer than that.
enum ChangeWatch {
    /// From one glance to the next, which is how late a change is noticed.
    static let interval = Duration.milliseconds(5)
    /// How long to wait in one statement: the caller has other things to see to.
    static let limit = Duration.milliseconds(200)

    /// What a glance looks for. In settings, so that the statement's text is always the same: statistics of statements keep
    /// each text.
    private static let settings = (
        after: "tombolo.watch_after", next: "tombolo.watch_next", running: "tombolo.watch_running"
    )

    /// Wants a session without a sequential scan, as ``StoredTick/hasChanges(beyond:after:)`` does.
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
        // What was asked before may have left a transaction open.
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
        // By itself: it can't end transactions where it is part of one.
        try await connection.execute(statement)
    }
}
