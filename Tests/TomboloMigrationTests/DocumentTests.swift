import PostgresClient
import Testing
import TomboloModel
import TomboloPostgresStore
import TomboloServerModel

@testable import TomboloMigration

@Suite struct DocumentTests {
    private let rules = "version: 1\nrules:\n  Listing:\n    - {name: all, applyWhen: {}, read: true}\n"

    private func documents(_ connection: PostgresConnection) async throws -> [String] {
        try await DocumentTable.newest(connection).map(\.name)
    }

    @Test("documents come with their tables, once, and other apps keep theirs")
    func documentsAreAdded() async throws {
        try await Databases.withEmpty { connection in
            let homes = AppDocuments(models: try ModelDocument(app: "homes", objectTypes: [Listing.self]), rules: rules)
            let applied = try await Migrator.toDocuments([homes], on: connection).apply().map(\.name)
            #expect(applied.suffix(2) == ["models of homes", "rules of homes"])
            #expect(try await Migrator.toDocuments([homes], on: connection).apply().isEmpty)
            let club = AppDocuments(models: try ModelDocument(app: "club", objectTypes: [Member.self]))
            let names = try await Migrator.toDocuments([club], on: connection).apply().map(\.name)
            #expect(names.contains("table member") && !names.contains("models of homes"), "\(names)")
            let kept = try await documents(connection)
            #expect(
                kept == ["models of club (version 3)", "models of homes (version 1)", "rules of homes (version 2)"])
            let newer = AppDocuments(app: "homes", rules: rules + "# Changed.\n")
            #expect(try await Migrator.toDocuments([newer], on: connection).apply().map(\.name) == ["rules of homes"])
        }
    }

    @Test("what newer models lack stays for older versions of the app")
    func missingClassesAreRetired() async throws {
        try await Databases.withEmpty { connection in
            let both = AppDocuments(
                models: try ModelDocument(app: "homes", objectTypes: [Listing.self, Member.self]))
            try await Migrator.toDocuments([both], on: connection).apply()
            let one = AppDocuments(models: try ModelDocument(app: "homes", objectTypes: [Listing.self]))
            try await Migrator.toDocuments([one], on: connection).apply()
            let model = try ServerModel(try await DocumentTable.newest(connection))
            #expect(model.schema["Member"] != nil)
            #expect(model.models["homes"]?["Member"]?.isRetired == true)
        }
    }

    @Test("apps with a class of one name, and rules of a class that isn't there, are refused with nothing changed")
    func contradictionsAreRefused() async throws {
        try await Databases.withEmpty { connection in
            let homes = AppDocuments(models: try ModelDocument(app: "homes", objectTypes: [Listing.self]))
            try await Migrator.toDocuments([homes], on: connection).apply()
            let others = AppDocuments(models: try ModelDocument(app: "others", objectTypes: [Listing.self]))
            let twice = await #expect(throws: ServerModelError.self) {
                try await Migrator.toDocuments([others], on: connection)
            }
            #expect(twice?.description.contains("both have a class Listing") == true, "\(String(describing: twice))")
            let strange = AppDocuments(app: "homes", rules: rules.replacing("Listing", with: "Listng"))
            let unknown = await #expect(throws: ServerModelError.self) {
                try await Migrator.toDocuments([strange], on: connection)
            }
            #expect(unknown?.description.contains("Listing") == true, "\(String(describing: unknown))")
            #expect(try await documents(connection) == ["models of homes (version 1)"])
        }
    }

    @Test("a document that somebody else added meanwhile is not overwritten")
    func simultaneousChangesAreNoticed() async throws {
        try await Databases.withEmpty { connection in
            let homes = AppDocuments(
                models: try ModelDocument(app: "homes", objectTypes: [Listing.self]), rules: rules)
            try await Migrator.toDocuments([homes], on: connection).apply()
            func change(_ comment: String) async throws -> Migrator {
                try await Migrator.toDocuments(
                    [AppDocuments(app: "homes", rules: rules + comment)], on: connection)
            }
            let first = try await change("# First.\n")
            let second = try await change("# Second.\n")
            try await first.apply()
            let error = await #expect(throws: MigrationError.self) { try await second.apply() }
            #expect(error?.description.contains("run it again") == true)
            #expect(try await DocumentTable.newest(connection).contains { $0.content.contains("First") })
        }
    }
}
