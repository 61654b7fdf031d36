import Foundation
import ListingModels
import PostgresClient
import TestSupport
import Testing
import TomboloMigration
import TomboloModel
import TomboloRules
import TomboloServerModel

/// The example's files, which are used by `make up` and the README.
@Suite struct ListingsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Apps/Examples/Listings")

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    @Test("the model document matches the export of the model classes")
    func documentIsCurrent() throws {
        let exported = try ListingModels.document().json
        #expect(try Self.text("listings.models.json") == exported)
    }

    @Test("the sample data contains the 100 homes that the guides promise, and loading it again adds none")
    func sampleIsAsPromised() async throws {
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        let documents = AppDocuments(models: try ListingModels.document(), rules: try Self.text("listings.rules.yaml"))
        try await Migrator.toDocuments([documents], on: connection).apply()
        for _ in 0..<2 {
            try await connection.execute(try Self.text("sample.sql"))
            let counts = try await connection.query(
                """
                SELECT count(*), count(*) FILTER (WHERE location = 'dallas'),
                    count(*) FILTER (WHERE location = 'dallas' AND price < 300000 AND bedrooms >= 3) FROM listing
                """)
            #expect(try counts[0, 0].int == 300)
            #expect(try counts[0, 1].int == 160)
            #expect(try counts[0, 2].int == 100)
        }
        await connection.close()
    }

    @Test("every logged-in user can read listings, and agents can write them")
    func rulesAreAsDescribed() throws {
        let models = StoredDocument(
            version: 1, app: "listings", kind: .models, content: try Self.text("listings.models.json"))
        let rules = StoredDocument(
            version: 2, app: "listings", kind: .rules, content: try Self.text("listings.rules.yaml"))
        let model = try ServerModel([models, rules])
        let index = try #require(model.schema.index(of: "Listing"))
        let user = ObjectId(high: 1, low: 1)
        let row = Row([.objectId(user), .string("dallas"), .int(1), .int(1)])
        for (subject, expected) in [
            (Subject.anonymous, []), (Subject(user: user), ["read"]),
            (Subject(user: user, customData: ["isAgent": .bool(false)]), ["read"]),
            (Subject(user: user, customData: ["isAgent": .bool(true)]), ["read", "create", "update", "delete"]),
        ] as [(Subject, [String])] {
            let permitted = [TomboloRules.Operation.read, .create, .update, .delete].filter {
                model.rules.authorize(subject, $0, .object(classIndex: index, old: row, new: row)).isAllowed
            }
            #expect(permitted.map(\.name) == expected)
        }
    }
}
