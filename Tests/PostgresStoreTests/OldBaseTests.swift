import Logging
import PostgresClient
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncSession

@testable import TomboloPostgresStore

/// A changeset whose base is too old is refused for that reason, and no other changeset is.
@Suite(.serialized) struct OldBaseTests {
    /// Stands in for ``BulkRowSearch/maximumRowCount``.
    private static let limit = 8

    private let ada = ClientID(rawValue: 11)
    private let bob = ClientID(rawValue: 22)
    private let eve = ClientID(rawValue: 33)
    private let dan = ClientID(rawValue: 44)

    /// Runs `body` with a database that has two accounts and a store that searches at most ``limit`` bulk rows.
    private func withDatabase(
        _ body: (TestDatabase, PostgresServerStore, PostgresConnection) async throws -> Void
    ) async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let store = try await PostgresServerStore.open(
            schema: database.schema, pool: database.pool, maximumBulkRowCount: Self.limit,
            logger: Logger(label: "old-base-tests"))
        let connection = try await database.connect()
        for client in [ada, bob, eve, dan] {
            _ = try await store.openClient(client, user: "u\(client)", acknowledged: 0)
        }
        try await connection.execute("INSERT INTO account VALUES (-1, 0), (-2, 0)")
        try await body(database, store, connection)
        await connection.close()
        await database.finish()
    }

    /// Inserts accounts or parents with consecutive keys in one statement: as many as fill `rowCount` bulk rows (at least two).
    private func insert(_ rowCount: Int, into table: String, from key: Int, _ connection: PostgresConnection)
        async throws
    {
        let before = try await bulkRowCount(connection)
        try await connection.execute(
            """
            INSERT INTO \(table) SELECT n, 0 FROM generate_series(\(key), \(key + rowCount * BulkRow.keyLimit - 1)) n
            """)
        #expect(try await bulkRowCount(connection) == before + rowCount)
    }

    private func bulkRowCount(_ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT count(*) FROM tombolo.changelog WHERE keys IS NOT NULL")[0, 0].int
    }

    /// An upload that adds 1 to the balance of accounts and gives parents the client's name, stamped after everything committed so
    /// far.
    /// - Parameter isEarly: Stamps the changeset with its base's time instead.
    private func upload(
        _ client: ClientID, _ number: Int64, base: Tick, _ database: TestDatabase, isEarly: Bool = false,
        accounts: [Int] = [], parents: [Int] = []
    ) throws -> Upload {
        func reference(_ name: String, _ key: Int) throws -> ObjectReference {
            ObjectReference(classIndex: try TestModel.index(name, database.schema), key: .int(Int64(key)))
        }
        return Upload(
            client: client,
            changeset: Changeset(
                number: number, base: base.number,
                stamp: isEarly ? base.time : Stamp(microseconds: base.time.microseconds + 86_400_000_000),
                instructions: try accounts.map { .add(try reference("Account", $0), column: 1, amount: 1) }
                    + parents.map {
                        .set(try reference("Parent", $0), [FieldWrite(column: 1, value: .string("\(client)"))])
                    }), permit: { _ in nil })
    }

    private func balances(_ keys: [Int], _ connection: PostgresConnection) async throws -> [Int] {
        let found = try await connection.query(
            "SELECT balance FROM account WHERE _id = ANY ($1) ORDER BY _id", [.int64Array(keys.map { Int64($0) })])
        return try found.map { try $0[0].int }
    }

    @Test(
        "A changeset beyond the bound is applied once it has a new base; others of its group are applied at once"
    )
    func bound() async throws {
        try await withDatabase { database, store, connection in
            let old = try #require(try await store.makeTick())
            try await insert(2, into: "account", from: 1, connection)
            let later = try #require(try await store.makeTick())
            try await insert(Self.limit, into: "account", from: 101, connection)
            try await connection.execute("UPDATE account SET balance = 5 WHERE _id = -1")
            let new = try #require(try await store.makeTick())
            let results = try await store.upload([
                try upload(ada, 1, base: old, database, accounts: [101]),
                try upload(bob, 1, base: new, database, accounts: [101]),
                // Exactly as many bulk rows as the bound.
                try upload(eve, 1, base: later, database, accounts: [1, 102]),
                // The account isn't new since the base.
                try upload(dan, 1, base: old, database, accounts: [-2]),
                try upload(ada, 2, base: new, database, accounts: [101]),
                try upload(dan, 2, base: new, database, accounts: [-1]),
            ])
            #expect(
                results == [
                    .unknownBase, .applied(lost: 0), .applied(lost: 0), .applied(lost: 0), .gap(expected: 1),
                    .applied(lost: 0),
                ])
            #expect(try await balances([-2, -1, 1, 101, 102], connection) == [1, 6, 1, 1, 1])
            // The account was written since the base, so it may be new.
            #expect(
                try await store.upload([try upload(dan, 3, base: old, database, accounts: [-1])]) == [.unknownBase])
            #expect(
                try await store.upload([
                    try upload(ada, 1, base: old, database, accounts: [101]),
                    try upload(ada, 2, base: new, database, accounts: [101]),
                ]) == [.unknownBase, .gap(expected: 1)])
            #expect(
                try await store.upload([
                    try upload(ada, 1, base: new, database, accounts: [101]),
                    try upload(ada, 2, base: new, database, accounts: [101]),
                    try upload(dan, 3, base: new, database, accounts: [-1]),
                ]) == [.applied(lost: 0), .applied(lost: 0), .applied(lost: 0)])
            #expect(try await balances([-1, 101], connection) == [7, 3])
        }
    }

    @Test("A new base is new enough even while an older transaction is running")
    func longTransaction() async throws {
        try await withDatabase { database, store, connection in
            let long = try await database.connect()
            try await long.execute("BEGIN; UPDATE account SET balance = 100 WHERE _id = -1")
            let old = try #require(try await store.makeTick())
            try await insert(Self.limit + 1, into: "account", from: 1, connection)
            let new = try #require(try await store.makeTick())
            // The tick's `first_seq` lies before the inserts, although the tick sees all of them.
            let beginning = try await connection.query(
                """
                SELECT first_seq < (SELECT min(seq) FROM tombolo.changelog WHERE keys IS NOT NULL)
                FROM tombolo.tick WHERE number = $1
                """, [.int64(new.number)])
            #expect(try beginning[0, 0].bool)
            #expect(
                try await store.upload([
                    try upload(ada, 1, base: old, database, accounts: [1]),
                    try upload(bob, 1, base: new, database, accounts: [1]),
                ]) == [.unknownBase, .applied(lost: 0)])
            #expect(
                try await store.upload([try upload(ada, 1, base: new, database, accounts: [1])])
                    == [.applied(lost: 0)])
            // The long transaction's inserts come after the new base, too.
            try await insert(Self.limit + 1, into: "parent", from: 1, long)
            try await long.execute("COMMIT")
            let newest = try #require(try await store.makeTick())
            let results = try await store.upload([
                try upload(ada, 2, base: new, database, parents: [1]),
                try upload(bob, 2, base: newest, database, parents: [1]),
            ])
            #expect(results == [.unknownBase, .applied(lost: 0)])
            await long.close()
        }
    }

    @Test("Only rows of a changeset's own classes since its own base count, whatever else its group contains")
    func classes() async throws {
        try await withDatabase { database, store, connection in
            let old = try #require(try await store.makeTick())
            try await insert(Self.limit - 1, into: "account", from: 1, connection)
            try await insert(Self.limit - 1, into: "parent", from: 1, connection)
            let new = try #require(try await store.makeTick())
            let results = try await store.upload([
                try upload(ada, 1, base: old, database, accounts: [1]),
                try upload(bob, 1, base: old, database, isEarly: true, parents: [2]),
                try upload(eve, 1, base: old, database, accounts: [3], parents: [3]),
                try upload(dan, 1, base: new, database, accounts: [4], parents: [4]),
            ])
            // An edit stamped before the insert loses to it.
            #expect(results == [.applied(lost: 0), .applied(lost: 1), .unknownBase, .applied(lost: 0)])
            #expect(try await balances([1, 3, 4], connection) == [1, 0, 1])
            let names = try await connection.query("SELECT name FROM parent WHERE _id IN (2, 3, 4) ORDER BY _id")
            #expect(try names.map { try $0[0].string } == ["0", "0", "\(dan)"])
        }
    }

    @Test("Bases beyond the bound are found among many, however many transactions made the inserts")
    func manyBases() async throws {
        try await withDatabase { database, store, connection in
            var bases: [Tick] = []
            let count = 2 * Self.limit
            let newest = count * 2 * BulkRow.keyLimit
            for position in 0..<count {
                bases.append(try #require(try await store.makeTick()))
                try await insert(2, into: "account", from: 1 + position * 2 * BulkRow.keyLimit, connection)
            }
            var uploads: [Upload] = []
            for position in (0..<count).reversed() {
                let client = ClientID(rawValue: Int64(100 + position))
                _ = try await store.openClient(client, user: "u\(client)", acknowledged: 0)
                uploads.append(try upload(client, 1, base: bases[position], database, accounts: [newest]))
            }
            let results = try await store.upload(uploads)
            let within = Self.limit / 2
            #expect(results.prefix(within) == Array(repeating: .applied(lost: 0), count: within)[...])
            #expect(results.dropFirst(within) == Array(repeating: .unknownBase, count: count - within)[...])
            #expect(try await balances([newest], connection) == [within])
        }
    }

    @Test("A base that falls below the retention floor while its group waits for a row affects its own device only")
    func droppedMeanwhile() async throws {
        try await withDatabase { database, store, connection in
            let old = try #require(try await store.makeTick())
            try await connection.execute("UPDATE account SET balance = 5 WHERE _id = -1")
            let new = try #require(try await store.makeTick())
            let uploads = [
                try upload(ada, 1, base: old, database, accounts: [-1]),
                try upload(bob, 1, base: new, database, accounts: [-1]),
                try upload(ada, 2, base: new, database, accounts: [-2]),
            ]
            try await connection.execute("BEGIN; UPDATE account SET balance = 6 WHERE _id = -1")
            async let outcome = database.upload(uploads, by: store)
            let observer = try await database.connect()
            while try await observer.query(
                """
                SELECT count(*) FROM pg_stat_activity \
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """)[0, 0].int == 0
            {
                try await observer.execute("SELECT pg_sleep(0.005)")
            }
            // Does what retention does.
            try await observer.query("DELETE FROM tombolo.tick WHERE number = $1", [.int64(old.number)])
            try await connection.execute("COMMIT")
            let results = try await outcome
            // Bob's changeset may have been applied by an attempt whose first changeset waited for too long.
            #expect(results[1] == .applied(lost: 0) || results[1] == .duplicate, "\(results)")
            #expect(results[0] == .unknownBase && results[2] == .gap(expected: 1), "\(results)")
            #expect(
                try await store.upload([
                    try upload(ada, 1, base: new, database, accounts: [-1]), uploads[2],
                ]) == [.applied(lost: 0), .applied(lost: 0)])
            #expect(try await balances([-2, -1], connection) == [1, 8])
            await observer.close()
        }
    }
}
