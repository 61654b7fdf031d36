import PostgresClient
import TestSupport
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

/// A suite that tests uploads by two devices, each test with its own database with the tables of ``TestModel``.
protocol UploadingSuite {}

extension UploadingSuite {
    var ada: ClientID { ClientID(rawValue: 11) }
    var bob: ClientID { ClientID(rawValue: 22) }

    func withDatabase(_ body: (TestDatabase, PostgresConnection) async throws -> Void) async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        for client in [ada, bob] {
            _ = try await database.store.openClient(client, user: "u\(client)", acknowledged: 0)
        }
        try await body(database, connection)
        await connection.close()
        await database.finish()
    }

    func upload(
        _ client: ClientID, _ number: Int64, base: Tick, after microseconds: Int64 = 1, _ instructions: Instruction...
    ) -> Upload {
        Upload(
            client: client,
            changeset: Changeset(
                number: number, base: base.number,
                stamp: Stamp(microseconds: base.time.microseconds + microseconds), instructions: instructions),
            permit: { _ in nil })
    }

    func reference(_ database: TestDatabase, _ name: String, _ key: Value) throws -> ObjectReference {
        ObjectReference(classIndex: try TestModel.index(name, database.schema), key: key)
    }

    func note(_ key: String, slug: String, text: String = "") -> [FieldWrite] {
        [
            FieldWrite(column: 1, value: .string(slug)), FieldWrite(column: 2, value: .string(text)),
            FieldWrite(column: 3, value: .null),
        ]
    }
}
