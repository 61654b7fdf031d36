import Foundation
import PostgresClient
import ServerStoreConformance
import Testing
import TomboloChangesets
import TomboloModel
import TomboloPostgresStore
import TomboloSyncProtocol
import TomboloSyncSession

/// `tombolo.writer`: the name of the user on whose behalf a row is written, for an app's triggers.
@Suite(.serialized) struct WriterTests {
    private static let trigger = """
        CREATE TABLE seen (id bigint, writer text);
        CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
            INSERT INTO public.seen VALUES (NEW._id, tombolo.writer()); RETURN NEW; END $$;
        CREATE TRIGGER see BEFORE INSERT ON account FOR EACH ROW EXECUTE FUNCTION see()
        """

    private func withDatabase(_ body: (TestDatabase, PostgresConnection) async throws -> Void) async throws {
        let database = try await TestDatabase.make(try TestModel.schema())
        let connection = try await database.connect()
        try await connection.execute(Self.trigger)
        try await body(database, connection)
        await connection.close()
        await database.finish()
    }

    private func seen(_ connection: PostgresConnection) async throws -> [String] {
        try await connection.query("SELECT coalesce(writer, 'nobody') FROM seen ORDER BY id").map { try $0[0].string }
    }

    @Test("a trigger sees each device's user, even with several in one transaction, and no user for plain SQL")
    func devices() async throws {
        try await withDatabase { database, connection in
            let clients = [(ClientID(rawValue: 11), "ada"), (ClientID(rawValue: 12), "bob")]
            var uploads: [Upload] = []
            for (number, (client, user)) in clients.enumerated() {
                _ = try await database.store.openClient(client, user: user, acknowledged: 0)
                let account = ObjectReference(
                    classIndex: try TestModel.index("Account", database.schema), key: .int(Int64(number)))
                let changeset = Changeset(
                    number: 1, base: 0, stamp: Stamp(microseconds: 1), instructions: [.create(account, [])])
                uploads.append(Upload(client: client, changeset: changeset, permit: { _ in nil }))
            }
            let results = try await database.store.upload(uploads)
            #expect(results.allSatisfy { $0 == .applied(lost: 0) }, "\(results)")
            try await connection.execute("INSERT INTO account VALUES (3, 3)")
            #expect(try await seen(connection) == ["ada", "bob", "nobody"])
        }
    }

    @Test("only authorised roles can name the writer, and only until their transaction ends")
    func belief() async throws {
        try await withDatabase { database, connection in
            let role = "service_\(UUID().uuidString.prefix(8).lowercased())"
            try await connection.execute("CREATE ROLE \(role) LOGIN; GRANT INSERT ON account TO \(role)")
            var configuration = database.configuration
            configuration.user = role
            let service = try await PostgresConnection.connect(configuration)
            try await service.execute("SET tombolo.writer = 'eve'; INSERT INTO account VALUES (1, 1)")
            try await service.execute(
                "SET tombolo.origin = '1000 7 1 0 {} {}'; INSERT INTO account VALUES (2, 1)")
            await service.close()
            let name = "SET LOCAL tombolo.writer = 'ada'"
            try await connection.execute("BEGIN; \(name); INSERT INTO account VALUES (3, 1); COMMIT")
            try await connection.execute("INSERT INTO account VALUES (4, 1)")
            #expect(try await seen(connection) == ["nobody", "nobody", "ada", "nobody"])
            try await connection.execute("DROP OWNED BY \(role); DROP ROLE \(role)")
        }
    }
}
