import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloModel

@testable import TomboloPostgresStore

/// Inserts are logged once per statement, or row by row where a statement trigger would miss some. Both give the same outcome.
@Suite struct InsertTriggerTests {
    private func withDatabase(
        preparing sql: String = "", _ body: (PostgresConnection, Schema) async throws -> Void
    ) async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(configuration)
        let schema = try TestModel.schema()
        try await connection.execute(sql)
        try await PostgresSchema.install(schema, on: connection)
        #expect(try await steps(connection, schema) == [])
        try await body(connection, schema)
        await connection.close()
    }

    /// The steps that a migration would take.
    private func steps(_ connection: PostgresConnection, _ schema: Schema) async throws -> [String] {
        PostgresSchema.difference(from: try await PostgresCatalog.read(connection), to: schema).steps.map(\.name)
    }

    private func triggers(_ connection: PostgresConnection, _ table: String) async throws -> Set<String> {
        Set(
            try await connection.query(
                "SELECT tgname FROM pg_trigger WHERE tgrelid = to_regclass($1) AND tgname LIKE 'tombolo\\_log%'",
                [.text(table)]
            ).map { try $0[0].string })
    }

    private static let byStatement: Set = [
        "tombolo_log_change", "tombolo_log_insert", "tombolo_log_replica", "tombolo_log_truncate",
    ]
    private static let byRow: Set = ["tombolo_log", "tombolo_log_truncate"]

    private func operations(_ lines: [LogLine]) -> [String] { lines.map { "\($0.operation)\($0.key)" } }

    @Test("Each row of a statement has its own log row, with the changeset's stamp, client, marks and its own root")
    func manyRows() async throws {
        try await withDatabase { connection, _ in
            let lines = try await LogLine.lines(
                connection,
                """
                BEGIN; SET LOCAL tombolo.origin = '1000 7 3 1 {2} {}';
                INSERT INTO account SELECT n, n FROM generate_series(1, 1000) AS n; COMMIT
                """)
            #expect(operations(lines) == (1...1_000).map { "c\($0)" })
            let number = try await connection.query("SELECT id FROM tombolo.class WHERE name = 'Account'")[0, 0].int64
            #expect(lines.allSatisfy { $0.client == 7 && $0.stamp == 1_000 && $0.old.isEmpty && $0.root == nil })
            #expect(lines.allSatisfy { $0.marks == (number == 1 ? "d2" : nil) })
            let (first, second) = ("11111111-2222-3333-4444-555555555555", "21111111-2222-3333-4444-555555555555")
            let elements = try await LogLine.lines(
                connection,
                """
                INSERT INTO parent VALUES (1, 'p'); INSERT INTO tagged VALUES ('\(first)', 't'), ('\(second)', 'u');
                INSERT INTO tagged_parents VALUES
                    ('\\x000000000000000000000001', '\(first)', 'a', 1), ('\\x000000000000000000000002', '\(second)', 'a', 1)
                """)
            #expect(elements.suffix(2).map(\.root) == [first, second])
        }
    }

    @Test("A statement that inserts nothing, or deletes and inserts, logs what it does in order")
    func compound() async throws {
        try await withDatabase { connection, _ in
            #expect(try await LogLine.lines(connection, "INSERT INTO account SELECT 1, 1 WHERE false").isEmpty)
            try await connection.execute("INSERT INTO account VALUES (1, 1)")
            let lines = try await LogLine.lines(
                connection,
                "WITH gone AS (DELETE FROM account RETURNING *) INSERT INTO account SELECT _id + 1, 2 FROM gone")
            #expect(operations(lines) == ["e1", "c2"])
            let moved = try await LogLine.lines(
                connection,
                """
                BEGIN; INSERT INTO account VALUES (3, 3), (4, 4); DELETE FROM account WHERE _id = 3;
                INSERT INTO account VALUES (3, 5); COMMIT
                """)
            #expect(operations(moved) == ["c3", "c4", "e3", "c3"])
        }
    }

    @Test("An update logs NULL as the old value of a column that was NULL")
    func oldNulls() async throws {
        try await withDatabase { connection, _ in
            try await connection.execute("INSERT INTO parent VALUES (1, 'p'); INSERT INTO child VALUES (1, 5, NULL)")
            let lines = try await LogLine.lines(connection, "UPDATE child SET title = 6, parent = 1")
            #expect(lines.map(\.old) == [["title": "5", "parent": nil as String?]])
        }
    }

    @Test("Additions are marked with their amounts, and defaults with their columns")
    func marks() async throws {
        try await withDatabase { connection, _ in
            let id = try await connection.query("SELECT id FROM tombolo.class WHERE name = 'Account'")[0, 0].int64
            let column = try await connection.query(
                "SELECT id FROM tombolo.class_column WHERE class = $1 AND name = 'balance'", [.int64(id)])[0, 0].int64
            try await connection.execute("INSERT INTO account VALUES (1, 1)")
            func origin(_ lists: String) -> String { "SET LOCAL tombolo.origin = '1000 7 3 \(id) \(lists)'" }
            let added = try await LogLine.lines(
                connection,
                "BEGIN; \(origin("{} {\(column)}")); UPDATE account SET balance = balance - 3; COMMIT")
            #expect(added.map(\.marks) == ["a\(column)=-3 "])
            let created = try await LogLine.lines(
                connection, "BEGIN; \(origin("{\(column)} {}")); INSERT INTO account VALUES (2, 0), (3, 0); COMMIT")
            #expect(created.map(\.marks) == ["d\(column)", "d\(column)"])
        }
    }

    @Test("Rows of partitioned tables are logged, whichever table the statement names")
    func partitions() async throws {
        let preparation = """
            CREATE TABLE account (_id bigint PRIMARY KEY, balance bigint NOT NULL DEFAULT 0) PARTITION BY RANGE (_id);
            CREATE TABLE account_low PARTITION OF account FOR VALUES FROM (0) TO (100);
            CREATE TABLE account_high PARTITION OF account FOR VALUES FROM (100) TO (200)
            """
        try await withDatabase(preparing: preparation) { connection, _ in
            #expect(try await triggers(connection, "account") == Self.byRow)
            let lines = try await LogLine.lines(
                connection,
                """
                INSERT INTO account VALUES (1, 1), (101, 1); INSERT INTO account_low VALUES (2, 1);
                UPDATE account SET balance = 2 WHERE _id = 2; UPDATE account SET _id = 102 WHERE _id = 2;
                DELETE FROM account_high WHERE _id = 101
                """)
            #expect(operations(lines) == ["c1", "c101", "c2", "u2", "e2", "c102", "e101"])
        }
    }

    @Test("A table logged by statement can't become a partition or inherit, since its rows would go unlogged")
    func attaching() async throws {
        try await withDatabase { connection, _ in
            #expect(try await triggers(connection, "account") == Self.byStatement)
            try await connection.execute("CREATE TABLE accounts (LIKE account) PARTITION BY RANGE (_id)")
            await #expect(throws: PostgresError.self) {
                try await connection.execute("ALTER TABLE accounts ATTACH PARTITION account FOR VALUES FROM (0) TO (9)")
            }
            try await connection.execute("CREATE TABLE base (LIKE account)")
            await #expect(throws: PostgresError.self) {
                try await connection.execute("ALTER TABLE account INHERIT base")
            }
        }
    }

    @Test("A foreign trigger's change to a new row is logged after the row's create")
    func othersTriggers() async throws {
        try await withDatabase { connection, schema in
            try await connection.execute(
                """
                CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    UPDATE account SET balance = 7 WHERE _id = NEW._id;
                    DELETE FROM account WHERE _id = NEW._id AND NEW.balance < 0;
                    RETURN NULL;
                END $$;
                CREATE TRIGGER undo AFTER INSERT ON account FOR EACH ROW EXECUTE FUNCTION undo()
                """)
            // The next migration switches to logging by row.
            #expect(try await steps(connection, schema) == ["changelog triggers of account"])
            try await PostgresSchema.install(schema, on: connection)
            #expect(try await steps(connection, schema) == [])
            #expect(try await triggers(connection, "account") == Self.byRow)
            // Triggers of one event fire in the order of their names.
            let lines = try await LogLine.lines(connection, "INSERT INTO account VALUES (1, 1), (2, -1)")
            #expect(operations(lines) == ["c1", "u1", "c2", "u2", "e2"])
            try await connection.execute("DROP TRIGGER undo ON account")
            try await PostgresSchema.install(schema, on: connection)
            #expect(try await triggers(connection, "account") == Self.byStatement)
            #expect(operations(try await LogLine.lines(connection, "INSERT INTO account VALUES (3, 1)")) == ["c3"])
        }
    }

    @Test("A database that logged inserts row by row is switched over and logs each row once")
    func earlierVersion() async throws {
        try await withDatabase { connection, schema in
            let number = try await connection.query("SELECT id FROM tombolo.class WHERE name = 'Account'")[0, 0].int64
            try await connection.execute(
                """
                DROP TRIGGER tombolo_log_insert ON account; DROP TRIGGER tombolo_log_replica ON account;
                DROP TRIGGER tombolo_log_change ON account; DROP FUNCTION tombolo.log_inserts_\(number);
                CREATE TRIGGER tombolo_log AFTER INSERT OR UPDATE OR DELETE ON account FOR EACH ROW
                EXECUTE FUNCTION tombolo.log_\(number)(); ALTER TABLE account ENABLE ALWAYS TRIGGER tombolo_log
                """)
            let before = try await LogLine.lines(connection, "INSERT INTO account VALUES (1, 1)")
            try await PostgresSchema.install(schema, on: connection)
            #expect(try await steps(connection, schema) == [])
            #expect(try await triggers(connection, "account") == Self.byStatement)
            let after = try await LogLine.lines(
                connection,
                """
                INSERT INTO account VALUES (2, 1), (3, 1); UPDATE account SET balance = 2 WHERE _id = 2;
                DELETE FROM account WHERE _id = 3
                """)
            #expect(operations(before + after) == ["c1", "c2", "c3", "u2", "e3"])
        }
    }

    @Test("A database from a version without bulk rows gets them and keeps its log")
    func withoutBulkRows() async throws {
        try await withDatabase { connection, schema in
            let number = try await connection.query("SELECT id FROM tombolo.class WHERE name = 'Account'")[0, 0].int64
            try await connection.execute(
                """
                ALTER TABLE tombolo.changelog DROP COLUMN keys;
                CREATE OR REPLACE FUNCTION tombolo.log_inserts_\(number)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
                SET search_path = pg_catalog, pg_temp AS $$ BEGIN
                    INSERT INTO tombolo.changelog (class, key, operation, stamp)
                    SELECT \(number), t._id::text, 'c', 1 FROM tombolo_new_rows AS t; RETURN NULL;
                END $$;
                INSERT INTO account SELECT n, 0 FROM generate_series(1, 40) n
                """)
            #expect(
                try await steps(connection, schema)
                    == ["schema tombolo", "tombolo.changelog.keys", "changelog triggers of account"])
            try await PostgresSchema.install(schema, on: connection)
            #expect(try await steps(connection, schema) == [])
            try await connection.execute("INSERT INTO account SELECT n, 0 FROM generate_series(41, 80) n")
            #expect(operations(try await LogLine.read(connection)) == (1...80).map { "c\($0)" })
            let counts = try await connection.query(
                """
                SELECT (SELECT count(*) FROM tombolo.changelog),
                    (SELECT count(*) FROM pg_proc WHERE proname ~ '^log_(inserts_|truncate_)?[0-9]+$' AND proconfig IS NOT NULL)
                """)
            #expect(try counts[0, 0].int == 42)
            #expect(try counts[0, 1].int == 0)
        }
    }

    @Test("Trigger functions don't depend on the writer's search path")
    func qualification() async throws {
        try await withDatabase { connection, schema in
            let functions = try await PostgresCatalog.read(connection).functions.filter { name, _ in
                name.range(of: "^log_(inserts_|truncate_)?[0-9]+$", options: .regularExpression) != nil
            }
            #expect(functions.count == 3 * schema.classes.filter { $0.primaryKeyIndex != nil }.count)
            for (name, body) in functions {
                var rest = body
                func replace(_ pattern: String, with word: String = "") {
                    rest = rest.replacingOccurrences(of: pattern, with: word, options: .regularExpression)
                }
                replace("--[^\n]*")
                replace("'[^']*'")
                replace("OPERATOR\\(pg_catalog\\.[^)]*\\)")
                replace("::(smallint|integer|bigint|pg_catalog\\.[a-z0-9_]+)\\b")
                replace("pg_catalog\\.[a-z0-9_]+", with: "QUALIFIED")
                replace(":=", with: "TO")
                replace("\\b(ERRCODE|HINT|SCHEMA|TABLE|COLUMN) =")
                replace("INSERT INTO tombolo\\.changelog \\(")
                replace(
                    "\\b(IF|AND|OR|NOT|WHEN|THEN|VALUES|SELECT|FROM|ANY|ALL|BY|OVER|EXISTS|LATERAL|coalesce|least) *\\(",
                    with: "$1 ")
                // Operators, functions, types and comparisons, whose operators are found through the search path.
                for pattern in [
                    "[<>=~!@#%^&|*/+]", "[a-z0-9_] *\\(", "::", "DISTINCT FROM", "\\bIN\\b", "BETWEEN", "(?i)nullif",
                    "LIKE", "\\bCASE\\s+(?!WHEN)", "\\b(text|regclass)\\b(?!\")",
                ] {
                    let found = rest.range(of: pattern, options: .regularExpression)
                    #expect(found == nil, "\(name): \(found.map { rest[$0.lowerBound...].prefix(60) } ?? "")")
                }
            }
        }
    }

    @Test("Inserts by replication, which fires no statement triggers, are logged row by row, once each")
    func replication() async throws {
        try await withDatabase { connection, _ in
            let lines = try await LogLine.lines(
                connection,
                """
                SET session_replication_role = replica; INSERT INTO account VALUES (1, 1), (2, 1);
                SET session_replication_role = local; INSERT INTO account VALUES (3, 1), (4, 1);
                RESET session_replication_role; INSERT INTO account VALUES (5, 1)
                """)
            #expect(operations(lines) == ["c1", "c2", "c3", "c4", "c5"])
            // A disabled trigger counts as missing.
            try await connection.execute("ALTER TABLE account DISABLE TRIGGER tombolo_log_insert")
            #expect(try await steps(connection, try TestModel.schema()) == ["changelog triggers of account"])
        }
    }
}
