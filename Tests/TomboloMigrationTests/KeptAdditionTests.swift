import PostgresClient
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore
import TomboloServerModel

@testable import TomboloMigration

/// Applying an app's documents after its model or rules were changed in an admin server.
@Suite struct KeptAdditionTests {
    private static let account = "64b000000000000000000001"
    private static let rules = "version: 1\nrules:\n  Listing:\n    - {name: all, applyWhen: {}, read: true}\n"
    private static let kept =
        "Models of homes: Kept 2 additions that were made in the admin server: Boat; Listing.notes. Add them to the "
        + "app's classes."

    private static func models(_ properties: [ModelProperty], boat: Bool = false) throws -> ModelDocument {
        let key = ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true)
        let classes =
            [ModelClass(name: "Listing", table: "listing", properties: [key] + properties)]
            + (boat ? [ModelClass(name: "Boat", table: "boat", properties: [key])] : [])
        return try ModelDocument(app: "homes", classes: classes)
    }

    private static let price = ModelProperty(name: "price", type: .int(bits: 64))
    private static let rooms = ModelProperty(name: "rooms", type: .int(bits: 64))
    private static let notes = ModelProperty(name: "notes", type: .string, isOptional: true)

    private static func apply(
        _ models: ModelDocument, account: String? = nil, _ connection: PostgresConnection
    ) async throws -> MigrationPlan {
        try await Migrator.toDocuments([AppDocuments(models: models)], on: connection, account: account).applying()
    }

    private static func stored(_ connection: PostgresConnection) async throws -> ModelDocument {
        let newest = try await DocumentTable.newest(connection)
        return try ModelDocument(json: try #require(newest.first { $0.kind == .models }).content)
    }

    @Test(
        "an admin server's additions stay when older classes are applied, until classes that contained them drop them")
    func additions() async throws {
        try await Databases.withEmpty { connection in
            let first = try Self.models([Self.price])
            _ = try await Self.apply(first, connection)
            let edited = try Self.models([Self.price, Self.notes], boat: true)
            #expect(try await Self.apply(edited, account: Self.account, connection).notes == [])
            // Apply the same file again, then a newer one that doesn't contain the additions either.
            let same = try await Self.apply(first, connection)
            #expect(same.steps.isEmpty && same.notes == [Self.kept])
            let second = try Self.models([Self.price, Self.rooms])
            for isFirst in [true, false] {
                let plan = try await Self.apply(second, connection)
                #expect(plan.notes == [Self.kept] && plan.steps.isEmpty != isFirst)
                let stored = try await Self.stored(connection)
                #expect(stored["Boat"]?.isRetired == false && stored["Listing"]?["notes"]?.isRetired == false)
            }
            let note = try await connection.query("SELECT note FROM tombolo.document ORDER BY version DESC LIMIT 1")
            #expect("Models of homes: \(try note[0, 0].string)" == Self.kept)
            // The classes include the additions, and later drop them.
            let caughtUp = try Self.models([Self.price, Self.rooms, Self.notes], boat: true)
            #expect(try await Self.apply(caughtUp, connection).notes == [])
            #expect(try await Self.apply(caughtUp, connection).steps.isEmpty)
            #expect(try await Self.apply(second, connection).notes == [])
            let stored = try await Self.stored(connection)
            #expect(stored["Boat"]?.isRetired == true && stored["Listing"]?["notes"]?.isRetired == true)
        }
    }

    @Test("a note lists the admin server's changes that older classes undo")
    func undone() async throws {
        try await Databases.withEmpty { connection in
            let first = try Self.models([Self.price, Self.rooms])
            _ = try await Self.apply(first, connection)
            let hinted = ModelProperty(name: "price", type: .int(bits: 64), hint: "In euros")
            _ = try await Self.apply(try Self.models([hinted]), account: Self.account, connection)
            let plan = try await Migrator.toDocuments([AppDocuments(models: first)], on: connection).plan()
            #expect(
                plan.notes == [
                    "Models of homes: Not kept, though changed in the admin server: Listing.price no longer has a "
                        + "hint.\nNot kept, though changed in the admin server: Listing.rooms comes back: it was "
                        + "retired."
                ])
        }
    }

    @Test("classes that use the old name of a property renamed in an admin server are refused")
    func renamed() async throws {
        try await Databases.withEmpty { connection in
            let first = try Self.models([Self.price])
            _ = try await Self.apply(first, connection)
            let renamed = ModelProperty(name: "cost", type: .int(bits: 64), previousNames: ["price"])
            _ = try await Self.apply(try Self.models([renamed]), account: Self.account, connection)
            let error = await #expect(throws: ModelDocumentError.self) { _ = try await Self.apply(first, connection) }
            #expect(error?.description.contains("is a previous name of") == true)
        }
    }

    @Test("a class keeps its trash even if newer classes have none, and a note says so")
    func trash() async throws {
        try await Databases.withEmpty { connection in
            let key = ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true)
            func models(isTrashable: Bool) throws -> ModelDocument {
                let item = ModelClass(name: "Boat", table: "boat", properties: [key], isTrashable: isTrashable)
                return try ModelDocument(app: "homes", classes: [item])
            }
            _ = try await Self.apply(try models(isTrashable: true), connection)
            let plan = try await Self.apply(try models(isTrashable: false), connection)
            #expect(plan.steps.isEmpty && plan.notes.first?.contains("Boat keeps its trash") == true, "\(plan.notes)")
        }
    }

    @Test("rules written in an admin server stay when the same file is applied, and block a different one")
    func rules() async throws {
        try await Databases.withEmpty { connection in
            func migrator(
                _ rules: String, account: String? = nil, replacesBoxes: Bool = false
            ) async throws -> Migrator {
                try await Migrator.toDocuments(
                    [AppDocuments(app: "homes", rules: rules)], on: connection, replacesBoxes: replacesBoxes,
                    account: account)
            }
            _ = try await Self.apply(try Self.models([Self.price]), connection)
            _ = try await migrator(Self.rules).applying()
            let edited = Self.rules.replacing("read: true", with: "read: false")
            #expect(
                try await migrator(edited, account: Self.account).applying().steps.map(\.name) == ["rules of homes"])
            #expect(try await migrator(edited, account: Self.account).applying().steps.isEmpty)
            let same = try await migrator(Self.rules).applying()
            #expect(same.steps.isEmpty && same.notes.first?.contains("Kept rules that were written") == true)
            let newer = Self.rules + "# Newer.\n"
            let plan = try await migrator(newer).plan()
            #expect(plan.problems.first?.contains("--replace-boxes") == true, "\(plan.problems)")
            await #expect(throws: MigrationError.self) { try await migrator(newer).apply() }
            // Once the file contains the edited rules, they no longer come from the admin server only.
            #expect(try await migrator(edited).applying().steps.map(\.name) == ["rules of homes"])
            #expect(try await migrator(newer).applying().steps.map(\.name) == ["rules of homes"])
            _ = try await migrator(edited, account: Self.account).applying()
            let replaced = try await migrator(newer, replacesBoxes: true).applying()
            #expect(replaced.notes.first?.contains("rules that were written in the admin server") == true)
        }
    }
}
