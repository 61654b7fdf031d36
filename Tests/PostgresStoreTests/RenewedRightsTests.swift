import PostgresClient
import Synchronization
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore
import TomboloSyncProtocol
import TomboloSyncSession

/// An app whose trigger gives the author of a parent the right to add children to it. A row of `account` represents the right.
@Suite("An upload may use rights that its own writes granted", .serialized)
struct RenewedRightsTests {
    private static let ada = ClientID(rawValue: 11)
    private static let bob = ClientID(rawValue: 22)

    private struct Place {
        let database: TestDatabase
        let connection: PostgresConnection
        let base: Tick
        let parent: Int
        let child: Int
        /// How often rights were read again.
        let renewals = Counter()

        /// Permits children only of parents that the user has a right to, and only parents with a name.
        static func rights(_ owned: Set<Int64>, parent: Int, child: Int) -> UploadRights {
            UploadRights(permit: { request in
                let row = request.new ?? request.old
                if request.classIndex == parent { return row?[1] == .string("") ? "It has no name." : nil }
                guard request.classIndex == child, case .int(let key)? = row?[2], owned.contains(key) else {
                    return "This parent is somebody else's."
                }
                return nil
            })
        }

        func upload(
            _ number: Int64, from client: ClientID = RenewedRightsTests.ada, owning owned: Set<Int64> = [],
            _ instructions: Instruction...
        ) -> Upload {
            let (parent, child, renewals) = (parent, child, renewals)
            return Upload(
                client: client,
                changeset: Changeset(
                    number: number, base: base.number,
                    stamp: Stamp(microseconds: base.time.microseconds + number), instructions: instructions),
                rights: Self.rights(owned, parent: parent, child: child)
            ) { database in
                renewals.count()
                let connection = try #require(database as? PostgresUploadDatabase).connection
                let rows = try await connection.query(
                    "SELECT _id FROM account WHERE balance = $1", [.int64(client.rawValue)])
                let found = Set(try rows.map { try $0[0].int64 })
                return found == owned ? nil : Self.rights(found, parent: parent, child: child)
            }
        }

        func make(_ key: Int64, name: String = "n") -> Instruction {
            .create(
                ObjectReference(classIndex: parent, key: .int(key)), [FieldWrite(column: 1, value: .string(name))])
        }

        func add(_ key: Int64, to parent: Int64) -> Instruction {
            .create(
                ObjectReference(classIndex: child, key: .int(key)),
                [FieldWrite(column: 1, value: .int(1)), FieldWrite(column: 2, value: .int(parent))])
        }

        func keys(_ table: String) async throws -> [Int64] {
            try await connection.query("SELECT _id FROM \(table) ORDER BY _id").map { try $0[0].int64 }
        }
    }

    private final class Counter: Sendable {
        private let number = Mutex(0)
        var value: Int { number.withLock { $0 } }
        func count() { number.withLock { $0 += 1 } }
    }

    private func run(_ body: (Place) async throws -> Void) async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        for client in [Self.ada, Self.bob] {
            _ = try await database.store.openClient(client, user: "u\(client)", acknowledged: 0)
        }
        // The name tells the trigger whose client it is: 'b' for the second one, anything else for the first.
        try await connection.execute(
            """
            CREATE FUNCTION give_right() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO account VALUES (NEW._id, CASE NEW.name WHEN 'b' THEN 22 ELSE 11 END); RETURN NULL; END $$;
            CREATE TRIGGER give_right AFTER INSERT ON parent FOR EACH ROW EXECUTE FUNCTION give_right();
            INSERT INTO parent VALUES (100, 'b')
            """)
        let base = try #require(try await database.store.makeTick())
        try await body(
            Place(
                database: database, connection: connection, base: base,
                parent: try TestModel.index("Parent", database.schema),
                child: try TestModel.index("Child", database.schema)))
        await connection.close()
        await database.finish()
    }

    private func refusals(_ result: UploadResult) -> [Refusal]? {
        if case .applied(_, let refusals) = result { refusals } else { nil }
    }

    @Test("in the same changeset, in the next one of the transaction, and in an upload right afterwards")
    func counts() async throws {
        try await run { place in
            let both = try await place.database.store.upload([
                place.upload(1, place.make(1), place.add(10, to: 1)), place.upload(2, place.add(11, to: 1)),
            ])
            #expect(both == [.applied(lost: 0), .applied(lost: 0)])
            // The gateway hasn't learned yet of the right that the first upload granted.
            let next = try await place.database.store.upload([place.upload(3, place.add(12, to: 1))])
            #expect(next == [.applied(lost: 0)])
            #expect(try await place.keys("child") == [10, 11, 12])
            #expect(try await place.keys("account") == [1, 100], "the trigger's rows should exist once")
            let log = try await place.connection.query(
                "SELECT count(*) FROM tombolo.changelog WHERE client = 11 AND number > 0 AND operation = 'c'")
            #expect(try log[0][0].int == 5, "expected 1 parent, 3 children and the trigger's row")
        }
    }

    @Test("it permits no more than two uploads would: others' objects and forbidden writes are still refused")
    func noMore() async throws {
        try await run { place in
            let results = try await place.database.store.upload([
                place.upload(
                    1, place.make(1), place.make(2, name: ""), place.add(10, to: 1), place.add(11, to: 100),
                    place.add(12, to: 2)),
                // Another user's changeset in the same transaction: the first user's parent isn't theirs.
                place.upload(1, from: Self.bob, place.add(13, to: 1), place.add(14, to: 100)),
            ])
            let first = try #require(refusals(results[0])).compactMap(\.key)
            #expect(Set(first) == [.int(2), .int(11), .int(12)], "\(results)")
            #expect(try #require(refusals(results[1])).compactMap(\.key) == [.int(13)], "\(results)")
            #expect(try await place.keys("child") == [10, 14])
            #expect(try await place.keys("parent") == [1, 100])
        }
    }

    @Test("a write that the database refuses grants no rights, and the rest of the transaction continues")
    func refusedByTheDatabase() async throws {
        try await run { place in
            try await place.connection.execute("ALTER TABLE parent ADD CHECK (_id <> 7)")
            let results = try await place.database.store.upload([
                place.upload(1, place.make(7), place.add(10, to: 7), place.make(8), place.add(11, to: 8))
            ])
            #expect(try #require(refusals(results[0])).count == 2, "\(results)")
            #expect(try await place.keys("child") == [11])
            #expect(try await place.keys("account") == [8, 100])
        }
    }

    @Test("rights are read again only for a denied write, once per attempt; a repeated changeset is still a duplicate")
    func onlyWhenRefused() async throws {
        try await run { place in
            #expect(try await place.database.store.upload([place.upload(1, place.make(1))]) == [.applied(lost: 0)])
            #expect(place.renewals.value == 0)
            let refused = place.upload(2, place.add(10, to: 100))
            _ = try await place.database.store.upload([refused])
            #expect(place.renewals.value == 1)
            #expect(try await place.database.store.upload([refused]) == [.duplicate])
            #expect(place.renewals.value == 1)
            #expect(try await place.keys("child") == [])
        }
    }
}
