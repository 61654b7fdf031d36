import Foundation
import PostgresClient
import Testing
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore
import TomboloSyncProtocol
import TomboloSyncSession

/// What is refused, what of it is kept, and that nobody waits for it.
@Suite(.serialized) struct RefusedUploadTests {
    private let ada = ClientID(rawValue: 11)

    private func withDatabase(_ body: (TestDatabase, PostgresConnection) async throws -> Void) async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        _ = try await database.store.openClient(ada, user: "ada", acknowledged: 0)
        try await body(database, connection)
        await connection.close()
        await database.finish()
    }

    private func upload(
        _ number: Int64, denial: @escaping @Sendable (WriteRequest.Operation, Int) -> String? = { _, _ in nil },
        _ instructions: Instruction...
    ) -> Upload {
        Upload(
            client: ada,
            changeset: Changeset(
                number: number, base: 0, stamp: Stamp(microseconds: number), instructions: instructions),
            permit: { _ in nil }, denial: denial)
    }

    private func reference(_ database: TestDatabase, _ name: String, _ key: Value) throws -> ObjectReference {
        ObjectReference(classIndex: try TestModel.index(name, database.schema), key: key)
    }

    private func reason(_ result: UploadResult) -> Refusal? {
        if case .refused(let refusal) = result { refusal } else { nil }
    }

    @Test("an upload that may write no object of a class is refused without waiting for a locked row of it")
    func deniedWithoutLock() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO parent VALUES (1, 'x'); INSERT INTO account VALUES (1, 0)")
            let parents = try TestModel.index("Parent", database.schema)
            // A wait for the row would end in a lock timeout, which fails the upload.
            try await connection.execute("BEGIN; SELECT * FROM parent FOR UPDATE")
            let name = FieldWrite(column: 1, value: .string("y"))
            let results = try await database.store.upload([
                upload(
                    1, denial: { $1 == parents ? "Only for others." : nil },
                    .set(try reference(database, "Account", .int(1)), [FieldWrite(column: 1, value: .int(5))]),
                    .set(try reference(database, "Parent", .int(1)), [name])),
                upload(
                    2, .create(try reference(database, "Account", .int(2)), [FieldWrite(column: 1, value: .int(7))])),
            ])
            #expect(reason(results[0])?.code == .notPermitted)
            #expect(reason(results[0])?.message == "Only for others.")
            #expect(results[1] == .applied(lost: 0))
            try await connection.execute("COMMIT")
            #expect(try await connection.query("SELECT sum(balance)::bigint FROM account")[0][0].int64 == 7)
        }
    }

    @Test("an upload with a value that no column takes is refused without waiting for a locked row")
    func invalidWithoutLock() async throws {
        try await withDatabase { database, connection in
            try await connection.execute("INSERT INTO parent VALUES (1, 'x')")
            try await connection.execute("BEGIN; SELECT * FROM parent FOR UPDATE")
            let parent = try reference(database, "Parent", .int(1))
            let results = try await database.store.upload([
                upload(1, .set(parent, [FieldWrite(column: 1, value: .int(1))])),
                upload(2, .set(parent, [FieldWrite(column: 0, value: .int(2))])),
                upload(3, .add(parent, column: 0, amount: 1)),
            ])
            #expect(results.map { reason($0)?.code } == [.invalid, .invalid, .invalid])
            try await connection.execute("COMMIT")
        }
    }

    @Test("a create whose key column names another object creates neither")
    func otherKey() async throws {
        try await withDatabase { database, connection in
            let account = try reference(database, "Account", .int(11))
            let results = try await database.store.upload([
                upload(1, .create(account, [FieldWrite(column: 0, value: .int(22))])),
                upload(2, .create(account, [FieldWrite(column: 0, value: .int(11))])),
            ])
            #expect(reason(results[0])?.code == .invalid && reason(results[0])?.key == .int(11))
            #expect(results[1] == .applied(lost: 0))
            let keys = try await connection.query("SELECT _id FROM account")
            #expect(try keys.map { try $0[0].int64 } == [11])
        }
    }

    @Test("a changeset that the server cannot read is refused, is known when it comes again, and blocks nobody")
    func unreadable() async throws {
        try await withDatabase { database, connection in
            func unreadable(_ fingerprint: Int64) -> Upload {
                var changeset = Changeset(number: 1, base: 0, stamp: Stamp(microseconds: 1), instructions: [])
                changeset.defect = ChangesetDefect(
                    refusal: Refusal(.invalid, "There is no class 'Ghost'."), fingerprint: fingerprint)
                return Upload(client: ada, changeset: changeset, permit: { _ in nil })
            }
            let account = try reference(database, "Account", .int(1))
            let next = upload(2, .create(account, []))
            let results = try await database.store.upload([unreadable(7), next])
            #expect(reason(results[0])?.message == "There is no class 'Ghost'.")
            #expect(results[1] == .applied(lost: 0))
            #expect(try await database.store.upload([unreadable(7), next]) == [.duplicate, .duplicate])
            #expect(try await database.store.upload([unreadable(8)]) == [.conflict])
        }
    }
}
