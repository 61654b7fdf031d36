import EventModels
import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloModel

@testable import ConferenceSetup

@Suite struct OrderSetupTests {
    @Test(
        "a database from before orders existed gets their table, their rules, and links that stay out of the trash")
    func upgrade() async throws {
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        let before = AppDocuments(
            models: try ModelDocument(
                app: Conference.app, objectTypes: EventModels.objectTypes.filter { $0 != Order.self }),
            rules: "version: 1\nrules:\n  Event:\n    - {name: everybody, applyWhen: {}, read: true}\n")
        try await Migrator.toDocuments([before], on: connection).apply()
        #expect(try await connection.query("SELECT to_regclass('public.orders') IS NULL")[0, 0].bool)

        try await Conference.migrator(connection).apply()
        #expect(try await connection.query("SELECT count(*)::int FROM orders")[0, 0].int == 0)
        let staying = try await connection.query(
            """
            SELECT k.name FROM tombolo.class_column k JOIN tombolo.class c ON c.id = k.class
            WHERE c.name = 'Order' AND NOT k.goes_along ORDER BY 1
            """)
        #expect(try staying.map { try $0[0].string } == ["buyer", "ticket"])
        let rules = try await connection.query(
            """
            SELECT content FROM tombolo.document WHERE app = $1 AND kind = 'rules' ORDER BY version DESC LIMIT 1
            """, [.text(Conference.app)])
        #expect(try rules[0, 0].string.contains("orders: Order"))
        #expect(try await Conference.migrator(connection).apply().isEmpty)
        await connection.close()
    }
}
