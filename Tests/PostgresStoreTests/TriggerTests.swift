import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloPostgresStore

/// The changelog records every kind of write to a table.
@Suite(.serialized) struct TriggerTests {
    private func withDatabase(
        _ body: (PostgresConnection, TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        try await body(connection, database)
        await connection.close()
        await database.finish()
    }

    @Test("An insert logs a create without values")
    func insert() async throws {
        try await withDatabase { connection, _ in
            let lines = try await LogLine.lines(connection, "INSERT INTO account VALUES (1, 5), (2, 6)")
            #expect(lines.map(\.description) == ["c Account(1) [:]", "c Account(2) [:]"])
            #expect(lines.allSatisfy { $0.client == nil && $0.marks == nil && $0.root == nil })
        }
    }

    @Test("An update logs the old values of changed columns only, whatever formats the session uses")
    func update() async throws {
        try await withDatabase { connection, _ in
            try await connection.execute(
                """
                INSERT INTO person VALUES ('\\x000000000000000000000001', 'a@x', '1999-12-31 23:59:59.999999+00', 0.1, \
                '\\xff00', '11111111-2222-3333-4444-555555555555', true, -5, 7)
                """)
            let lines = try await LogLine.lines(connection, "UPDATE person SET height = 2, level = -5")
            #expect(
                lines.map(\.description) == [
                    "u Person(000000000000000000000001) [\"height\": Optional(\"3fb999999999999a\")]"
                ])
            let all = try await LogLine.lines(
                connection,
                """
                SET bytea_output = escape; SET extra_float_digits = -5; \
                SET timezone = 'Asia/Tokyo'; SET datestyle = SQL;
                UPDATE person SET email = 'b@x', born = NULL, height = 0.3, photo = NULL, badge = NULL, \
                is_member = false, level = 1, visits = 8
                """)
            #expect(
                all.map(\.old) == [
                    [
                        "email": "a@x", "born": "ffffffffffffffff", "height": "4000000000000000", "photo": "ff00",
                        "badge": "11111111-2222-3333-4444-555555555555", "isMember": "true", "level": "-5",
                        "visits": "7",
                    ]
                ])
        }
    }

    @Test("An update that changes nothing logs nothing")
    func unchangedUpdate() async throws {
        try await withDatabase { connection, _ in
            try await connection.execute("INSERT INTO account VALUES (1, 5)")
            #expect(try await LogLine.lines(connection, "UPDATE account SET balance = 5").isEmpty)
        }
    }

    @Test("A delete logs the old value of every scalar")
    func delete() async throws {
        try await withDatabase { connection, _ in
            try await connection.execute("INSERT INTO child VALUES (1, 5, NULL)")
            let lines = try await LogLine.lines(connection, "DELETE FROM child")
            #expect(lines.map(\.operation) == ["e"])
            #expect(lines.first?.old == ["_id": "1", "title": "5", "parent": nil as String?])
        }
    }

    @Test("A changed primary key is logged as an erase and a create")
    func keyChange() async throws {
        try await withDatabase { connection, _ in
            try await connection.execute("INSERT INTO account VALUES (1, 5)")
            let lines = try await LogLine.lines(connection, "UPDATE account SET _id = 9")
            #expect(lines.map { "\($0.operation)\($0.key)" } == ["e1", "c9"])
            #expect(lines.first?.old == ["_id": "1", "balance": "5"])
        }
    }

    @Test("Rows changed by foreign key actions are logged")
    func cascades() async throws {
        try await withDatabase { connection, _ in
            try await connection.execute(
                """
                INSERT INTO parent VALUES (1, 'p'), (2, 'q'); INSERT INTO child VALUES (1, 0, 1);
                INSERT INTO tagged VALUES ('11111111-2222-3333-4444-555555555555', 't');
                INSERT INTO tagged_parents VALUES
                    ('\\x000000000000000000000001', '11111111-2222-3333-4444-555555555555', 'a', 1),
                    ('\\x000000000000000000000002', '11111111-2222-3333-4444-555555555555', 'b', 2)
                """)
            let nulled = try await LogLine.lines(connection, "DELETE FROM parent WHERE _id = 1")
            #expect(
                Set(nulled.map { "\($0.operation) \($0.className)" }) == ["e Parent", "u Child", "e Tagged.parents"])
            #expect(nulled.first { $0.className == "Child" }?.old == ["parent": "1"])
            let dropped = try await LogLine.lines(connection, "DELETE FROM tagged")
            #expect(Set(dropped.map { "\($0.operation) \($0.className)" }) == ["e Tagged", "e Tagged.parents"])
            #expect(
                dropped.first { $0.className == "Tagged.parents" }?.root == "11111111-2222-3333-4444-555555555555")
        }
    }

    @Test("An element's owner can't be changed")
    func elementOwner() async throws {
        try await withDatabase { connection, _ in
            try await connection.execute(
                """
                INSERT INTO parent VALUES (1, 'p');
                INSERT INTO tagged VALUES ('11111111-2222-3333-4444-555555555555', 't'),
                    ('21111111-2222-3333-4444-555555555555', 'u');
                INSERT INTO tagged_parents VALUES
                    ('\\x000000000000000000000001', '11111111-2222-3333-4444-555555555555', 'a', 1)
                """)
            await #expect(throws: PostgresError.self) {
                try await connection.execute(
                    "UPDATE tagged_parents SET owner = '21111111-2222-3333-4444-555555555555'")
            }
            let moved = try await LogLine.lines(connection, "UPDATE tagged_parents SET rank = 'z'")
            #expect(moved.map(\.root) == ["11111111-2222-3333-4444-555555555555"])
        }
    }

    @Test("COPY, ON CONFLICT and MERGE are logged row by row")
    func bulkStatements() async throws {
        try await withDatabase { connection, _ in
            let copied = try await LogLine.during(connection) { connection in
                try await connection.copyIn("COPY account FROM STDIN", chunks: [Array("1\t5\n2\t6\n".utf8)])
            }
            #expect(copied.map(\.operation) == ["c", "c"])
            let upserted = try await LogLine.lines(
                connection,
                "INSERT INTO account VALUES (2, 7), (3, 8) ON CONFLICT (_id) DO UPDATE SET balance = excluded.balance")
            #expect(Set(upserted.map { "\($0.operation)\($0.key)" }) == ["u2", "c3"])
            let merged = try await LogLine.lines(
                connection,
                """
                MERGE INTO account a USING (VALUES (1), (9)) AS v (id) ON a._id = v.id \
                WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (v.id, 0)
                """)
            #expect(Set(merged.map { "\($0.operation)\($0.key)" }) == ["e1", "c9"])
        }
    }

    @Test("TRUNCATE logs every row, cascades included")
    func truncate() async throws {
        try await withDatabase { connection, _ in
            try await connection.execute(
                "INSERT INTO parent VALUES (1, 'p'), (2, 'q'); INSERT INTO child VALUES (1, 3, 2)")
            let lines = try await LogLine.lines(connection, "TRUNCATE parent CASCADE")
            #expect(
                Set(lines.map { "\($0.operation) \($0.className) \($0.key)" }).isSuperset(of: [
                    "e Parent 1", "e Parent 2", "e Child 1",
                ]))
            #expect(lines.first { $0.className == "Child" }?.old == ["_id": "1", "title": "3", "parent": "2"])
        }
    }

    @Test("TRUNCATE in a repeatable read transaction is refused")
    func truncateIsolation() async throws {
        try await withDatabase { connection, _ in
            await #expect(throws: PostgresError.self) {
                try await connection.transaction(isolation: .repeatableRead) {
                    try await $0.execute("TRUNCATE account")
                }
            }
        }
    }

    @Test("Writes under session_replication_role = replica are logged")
    func replicaRole() async throws {
        try await withDatabase { connection, _ in
            let lines = try await LogLine.lines(
                connection,
                """
                SET session_replication_role = replica; INSERT INTO account VALUES (1, 1); \
                UPDATE account SET balance = 2; TRUNCATE account; RESET session_replication_role
                """)
            #expect(lines.map(\.operation) == ["c", "u", "e"])
        }
    }

    @Test("A writer needs privileges only on the table, and a hostile search_path changes nothing")
    func privileges() async throws {
        try await withDatabase { connection, database in
            let role = "writer_\(UUID().uuidString.prefix(8).lowercased())"
            try await connection.execute(
                """
                CREATE ROLE \(role) LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON account TO \(role);
                GRANT SELECT, INSERT, UPDATE, DELETE ON note, parent TO \(role)
                """)
            var configuration = database.configuration
            configuration.user = role
            // A search path that shadows the names the triggers use doesn't mislead them.
            configuration.settings = ["search_path": "evil, pg_catalog, public"]
            let writer = try await PostgresConnection.connect(configuration)
            try await connection.execute(
                """
                CREATE SCHEMA evil; GRANT ALL ON SCHEMA evil TO \(role);
                CREATE FUNCTION evil.array_append(anyarray, anyelement) RETURNS anyarray LANGUAGE sql AS 'SELECT NULL';
                CREATE FUNCTION evil.clock_timestamp() RETURNS timestamptz LANGUAGE sql \
                AS 'SELECT ''2100-01-01''::timestamptz';
                CREATE FUNCTION evil.current_setting(text, boolean) RETURNS text LANGUAGE sql \
                AS 'SELECT ''1000 7 1 0 {} {}''';
                CREATE DOMAIN evil.text AS pg_catalog.text CHECK (false);
                CREATE FUNCTION evil.same(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';
                CREATE FUNCTION evil.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
                CREATE FUNCTION evil.other(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT false';
                CREATE FUNCTION evil.other(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false';
                CREATE OPERATOR evil.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.same);
                CREATE OPERATOR evil.= (LEFTARG = pg_catalog.text, RIGHTARG = pg_catalog.text, FUNCTION = evil.same);
                CREATE OPERATOR evil.<> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.other);
                CREATE OPERATOR evil.<> (LEFTARG = pg_catalog.text, RIGHTARG = pg_catalog.text, FUNCTION = evil.other);
                GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA evil TO \(role)
                """)
            let lines = try await LogLine.during(connection) { _ in
                try await writer.execute(
                    """
                    INSERT INTO account VALUES (1, 1); UPDATE account SET balance = 2; DELETE FROM account; \
                    INSERT INTO account VALUES (2, 1); TRUNCATE account;
                    INSERT INTO account SELECT n, 0 FROM generate_series(1, 40) n
                    """)
            }
            #expect(lines.map(\.operation) == ["c", "u", "e", "c", "e"] + Array(repeating: "c", count: 40))
            #expect(lines.allSatisfy { $0.client == nil })
            #expect(lines.allSatisfy { $0.stamp < 4_000_000_000_000_000 })
            for forbidden in [
                "SELECT * FROM tombolo.changelog", "SELECT tombolo.trash('Note', 'a', 'me', NULL)",
                "INSERT INTO tombolo.changelog (class, key, operation, stamp) VALUES (1, '1', 'e', 0)",
            ] {
                await #expect(throws: PostgresError.self) { try await writer.execute(forbidden) }
            }
            await writer.close()
            try await connection.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
        }
    }

    @Test("A changeset's origin ends with its transaction, and its stamp is never in the future")
    func origin() async throws {
        try await withDatabase { connection, _ in
            let lines = try await LogLine.during(connection) { connection in
                try await connection.transaction { connection in
                    try await connection.query(
                        "SELECT set_config('tombolo.origin', $1, true)", [.text("1000 7 1 0 {} {}")])
                    try await connection.execute("INSERT INTO account VALUES (1, 1)")
                }
                try await connection.execute("INSERT INTO account VALUES (2, 2)")
                // A stamp in the future is replaced by the current time.
                try await connection.transaction { connection in
                    try await connection.query(
                        "SELECT set_config('tombolo.origin', $1, true)", [.text("\(Int64.max) 7 1 0 {} {}")])
                    try await connection.execute("INSERT INTO account VALUES (3, 3)")
                }
            }
            let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
            #expect(lines.map(\.client) == [7, nil, 7])
            #expect(lines[0].stamp == 1_000)
            #expect(abs(lines[1].stamp - now) < 3_600_000_000)
            #expect(abs(lines[2].stamp - now) < 3_600_000_000)
        }
    }

    @Test("Only the tables' owner and its members can set a changeset's origin")
    func theOriginCannotBeForged() async throws {
        try await withDatabase { connection, database in
            let suffix = UUID().uuidString.prefix(8).lowercased()
            let (service, gateway) = ("service_\(suffix)", "gateway_\(suffix)")
            let owner = try await connection.query("SELECT quote_ident(current_user)")[0][0].string
            try await connection.execute(
                """
                CREATE ROLE \(service) LOGIN; CREATE ROLE \(gateway) LOGIN IN ROLE \(owner);
                GRANT SELECT, INSERT, UPDATE, DELETE ON account TO \(service), \(gateway)
                """)
            for (role, clients) in [(service, [nil, nil, nil]), (gateway, [7, 7, 7])] as [(String, [Int64?])] {
                var configuration = database.configuration
                configuration.user = role
                let writer = try await PostgresConnection.connect(configuration)
                let lines = try await LogLine.during(connection) { _ in
                    // Set for the session, set for the transaction, and set to text that can't be parsed.
                    try await writer.execute(
                        "SET tombolo.origin = '1000 7 1 0 {} {}'; INSERT INTO account VALUES (1, 1)")
                    try await writer.execute(
                        """
                        BEGIN; SET LOCAL tombolo.origin = '1000 7 1 0 {} {}'; UPDATE account SET balance = 2;
                        DELETE FROM account; COMMIT
                        """)
                }
                #expect(lines.map(\.client) == clients, "\(role)")
                #expect(lines.allSatisfy { ($0.stamp == 1_000) == (role == gateway) }, "\(role)")
                if role == service {
                    try await writer.execute("SET tombolo.origin = 'nonsense'; INSERT INTO account VALUES (1, 1)")
                    try await writer.execute("DELETE FROM account")
                }
                await writer.close()
            }
            try await connection.execute("DROP OWNED BY \(service), \(gateway); DROP ROLE \(service), \(gateway)")
        }
    }

    @Test("Plain SQL is stamped when it writes, not when its transaction began")
    func stamps() async throws {
        try await withDatabase { connection, database in
            try await connection.execute("INSERT INTO account VALUES (1, 0)")
            let early = try await database.connect()
            try await early.execute("BEGIN; SELECT 1")
            let lines = try await LogLine.during(connection) { connection in
                try await connection.execute("UPDATE account SET balance = 1")
                try await early.execute("UPDATE account SET balance = 2; COMMIT")
            }
            await early.close()
            #expect(lines.map(\.old) == [["balance": "0"], ["balance": "1"]])
            #expect(lines[0].stamp <= lines[1].stamp)
        }
    }

    // MARK: Trash

    @Test("Trashed rows are hidden from services until they're restored or purged")
    func trash() async throws {
        try await withDatabase { connection, database in
            let role = "reader_\(UUID().uuidString.prefix(8).lowercased())"
            try await connection.execute(
                "CREATE ROLE \(role) LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON note TO \(role)")
            var configuration = database.configuration
            configuration.user = role
            let service = try await PostgresConnection.connect(configuration)
            let group = "11111111-2222-3333-4444-555555555555"
            let lines = try await LogLine.lines(
                connection,
                """
                INSERT INTO note (_id, slug, text) VALUES ('a', 's', 'x'), ('b', 't', 'y');
                SELECT tombolo.trash('Note', 'a', 'ada', '\(group)')
                """)
            #expect(lines.map(\.operation) == ["c", "c", "u"])
            #expect(lines.last?.old == ["?": "false"])
            #expect(try await service.query("SELECT _id FROM note").map { try $0[0].string } == ["b"])
            #expect(try await service.query("UPDATE note SET text = 'z' RETURNING _id").count == 1)
            #expect(try await service.query("DELETE FROM note WHERE _id = 'a' RETURNING _id").isEmpty)
            await #expect(throws: PostgresError.self) {
                try await service.execute("UPDATE note SET trashed_at = now() WHERE _id = 'b'")
            }
            // The unique rule covers live rows only: a service takes the slug, so restoring conflicts.
            try await service.execute("INSERT INTO note (_id, slug, text) VALUES ('c', 's', 'z')")
            do {
                try await connection.execute("SELECT tombolo.restore('note', 'a')")
                Issue.record("restoring did not conflict")
            } catch let error as PostgresError {
                #expect(error.code == .uniqueViolation)
                #expect(error.constraintName == "note_slug_key")
            }
            try await service.execute("DELETE FROM note WHERE _id = 'c'")
            let restored = try await LogLine.lines(connection, "SELECT tombolo.restore_group('\(group)')")
            #expect(restored.map(\.old) == [["?": "true"]])
            #expect(try await service.query("SELECT _id FROM note").count == 2)
            try await connection.execute("SELECT tombolo.trash('Note', 'a', 'ada', '\(group)')")
            let purged = try await LogLine.lines(connection, "SELECT tombolo.purge_group('\(group)')")
            #expect(purged.map(\.operation) == ["e"])
            #expect(purged.first?.old["?"] == "true")
            #expect(purged.first?.old["reason"] == .some(nil))
            await #expect(throws: PostgresError.self) {
                try await connection.execute("SELECT tombolo.trash('Account', '1', 'ada', NULL)")
            }
            await service.close()
            try await connection.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
        }
    }
}
