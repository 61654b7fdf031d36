import PostgresClient
import Synchronization
import Testing
import TomboloModel
import TomboloSyncProtocol

@testable import GatewayService

/// Work for a device ends with its connection, on the database server too, and nothing is logged.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct LeavingDeviceTests {
    /// What is logged when the whole process stalls, which has nothing to do with a device.
    private static let ofOthers = [
        "Restarting the sequencer", "Can't read ticks", "PostgreSQL listener: reconnecting",
    ]

    private func withGateway(
        _ body: @escaping @Sendable @MainActor (GatewayFixture, PostgresConnection) async throws -> Void
    ) async throws {
        let log = RecordingLog()
        try await GatewayFixture.with(try Schema.of([Note.self]), log: log) { fixture in
            let watcher = try await PostgresConnection.connect(fixture.pool.configuration)
            try await body(fixture, watcher)
            await watcher.close()
        }
        let lines = log.lines.filter { line in !Self.ofOthers.contains { line.contains($0) } }
        #expect(lines.isEmpty)
    }

    /// Waits until the database has `count` statements that are waiting for this event.
    private static func wait(
        for count: Int, waitingFor event: String, _ watcher: PostgresConnection
    ) async throws {
        while true {
            let found = try await watcher.query(
                """
                SELECT count(*) FROM pg_stat_activity \
                WHERE datname = current_database() AND state = 'active' AND wait_event = $1
                """, [.text(event)])
            if try found[0][0].int == count { return }
            await Task.yield()
        }
    }

    /// Waits until a statement is waiting for this event.
    /// - Returns: the server process that runs the statement.
    private static func reader(waitingFor event: String, _ watcher: PostgresConnection) async throws -> Int {
        while true {
            let found = try await watcher.query(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = $1 "
                    + "AND state = 'active'", [.text(event)])
            if let row = found.first { return try row[0].int }
            await Task.yield()
        }
    }

    /// Waits until a server process has ended or is idle.
    private static func waitForEnd(of process: Int, _ watcher: PostgresConnection) async throws {
        while try await !watcher.query(
            "SELECT FROM pg_stat_activity WHERE pid = $1 AND state <> 'idle'", [.int32(Int32(process))]
        ).isEmpty { await Task.yield() }
    }

    /// Rows that a read never gets to the end of.
    enum Rows: CaseIterable, Sendable {
        /// Each row takes the database ten minutes.
        case slow
        /// More than a gateway buffers for a device that takes nothing, so that the database ends up waiting forever.
        case endless

        /// What a statement that reads these rows waits for.
        var event: String { self == .slow ? "PgSleep" : "ClientWrite" }

        fileprivate var sql: String {
            self == .slow
                ? "SELECT n, slow(n) FROM generate_series(1000::bigint, 1010) AS n"
                : "SELECT n, repeat(md5(n::text), 10240) FROM generate_series(1000::bigint, 100000) AS n"
        }
    }

    /// Adds rows after the others that a session reads. The feed, which reads by key, doesn't see them.
    /// - Parameter whenCounted: whether counting the rows takes as long as reading them.
    private static func add(_ rows: Rows, _ fixture: GatewayFixture, whenCounted: Bool) async throws {
        // To count rows, PostgreSQL calls a volatile function in them, but not a stable one.
        try await fixture.pool.execute(
            """
            CREATE FUNCTION slow(n bigint) RETURNS text LANGUAGE plpgsql \(whenCounted ? "VOLATILE" : "STABLE") \
            AS 'BEGIN PERFORM pg_sleep(600); RETURN n; END'; \
            ALTER TABLE note RENAME TO note_rows; \
            CREATE VIEW note AS SELECT _id, text FROM note_rows UNION ALL \(rows.sql)
            """)
    }

    @Test(
        "a read stops in the database when its device leaves, whether a row is being computed or rows are waiting to be taken",
        arguments: Rows.allCases)
    func reading(_ rows: Rows) async throws {
        try await withGateway { fixture, watcher in
            try await fixture.pool.execute("INSERT INTO note (_id, text) VALUES (1, 'one')")
            try await fixture.waitForTick()
            try await Self.add(rows, fixture, whenCounted: false)
            let process = Mutex(0)
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello()
                let found = try await Self.reader(waitingFor: rows.event, watcher)
                process.withLock { $0 = found }
            }
            try await Self.waitForEnd(of: process.withLock { $0 }, watcher)
        }
    }

    @Test("a device that leaves while its session is being opened leaves no warning")
    func opening() async throws {
        try await withGateway { fixture, watcher in
            let blocker = try await PostgresConnection.connect(fixture.pool.configuration)
            try await blocker.transaction { blocker in
                try await blocker.execute("LOCK TABLE tombolo.client IN ACCESS EXCLUSIVE MODE")
                for _ in 0..<3 {
                    try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                        try await device.sayHello()
                        try await Self.wait(for: 1, waitingFor: "relation", watcher)
                    }
                    try await Self.wait(for: 0, waitingFor: "relation", watcher)
                }
            }
            await blocker.close()
        }
    }

    @Test("a device that leaves while a class is being counted leaves no warning")
    func counting() async throws {
        try await withGateway { fixture, watcher in
            try await fixture.pool.execute("INSERT INTO note (_id, text) VALUES (1, 'one')")
            try await fixture.waitForTick()
            try await Self.add(.slow, fixture, whenCounted: true)
            for _ in 0..<3 {
                try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                    try await device.sayHello()
                    try await Self.wait(for: 1, waitingFor: "PgSleep", watcher)
                }
                try await Self.wait(for: 0, waitingFor: "PgSleep", watcher)
            }
        }
    }
}
