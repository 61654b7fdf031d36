import PostgresClient
import TestSupport
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

    @Test("documents and their tables are added once, and other apps keep theirs")
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

    @Test("rules that differ only in the code points of a text count as newer")
    func spelling() async throws {
        func rules(_ role: String) -> String {
            self.rules.replacing("applyWhen: {}", with: #"applyWhen: {"%%user.roles": "\#(role)"}"#)
        }
        try await Databases.withEmpty { connection in
            let old = AppDocuments(
                models: try ModelDocument(app: "homes", objectTypes: [Listing.self]), rules: rules("e\u{301}diteur"))
            try await Migrator.toDocuments([old], on: connection).apply()
            let new = AppDocuments(app: "homes", rules: rules("\u{E9}diteur"))
            #expect(try await Migrator.toDocuments([new], on: connection).apply().map(\.name) == ["rules of homes"])
            #expect(try await Migrator.toDocuments([new], on: connection).apply().isEmpty)
            let stored = try await DocumentTable.newest(connection).first { $0.kind == .rules }
            #expect(stored?.content.utf8.elementsEqual(rules("\u{E9}diteur").utf8) == true)
        }
    }

    @Test("classes missing from newer models stay for older versions of the app")
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

    @Test("a class of another app and rules for a missing class are refused, and nothing changes")
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

    @Test("a document that someone else added in the meantime isn't overwritten")
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
            #expect(error?.description.contains("run this again") == true)
            #expect(try await DocumentTable.newest(connection).contains { $0.content.contains("First") })
        }
    }

    @Test("a migration prepared before another app's models changed doesn't undo that app's changes")
    func otherAppsAreNoticed() async throws {
        try await Databases.withEmpty { connection in
            let homes = AppDocuments(models: try ModelDocument(app: "homes", objectTypes: [Listing.self]))
            try await Migrator.toDocuments([homes], on: connection).apply()
            let prepared = try await Migrator.toDocuments([homes], on: connection)
            let club = AppDocuments(models: try ModelDocument(app: "club", objectTypes: [Member.self]))
            try await Migrator.toDocuments([club], on: connection).apply()
            let error = await #expect(throws: MigrationError.self) { try await prepared.apply() }
            #expect(error?.description.contains("The documents of 'club' changed") == true)
            let rights = "SELECT has_table_privilege('tombolo_gateway', 'member', 'SELECT')"
            #expect(try await connection.query(rights)[0, 0].bool)
        }
    }

    @Test(
        "in development mode a link on an existing class is added in one transaction, without waiting for snapshots",
        .timeLimit(.minutes(15)))
    func developmentIndexes() async throws {
        let database = try await TestCluster.shared().createDatabase()
        func note(_ more: [ModelProperty]) throws -> ModelDocument {
            try ModelDocument(
                app: ServerModel.developmentApp,
                classes: [
                    ModelClass(
                        name: "Note", table: "note",
                        properties: [ModelProperty(name: "_id", type: .uuid, isPrimaryKey: true)] + more)
                ])
        }
        try await DevelopmentMigration.add(try note([]), database)
        // Creating an index concurrently would wait for this transaction.
        let reader = try await PostgresConnection.connect(database)
        try await reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT pg_current_snapshot()")
        let link = ModelProperty(name: "parent", type: .link(to: "Note"), isOptional: true)
        try await DevelopmentMigration.add(try note([link]), database)
        try await reader.execute("COMMIT")
        #expect(try await PostgresCatalog.read(reader).indexes.contains("note_parent_idx"))
        await reader.close()
    }

    @Test("an app takes over classes that devices added, together with the classes that link to them")
    func linkingClasses() async throws {
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        let key = ModelProperty(name: "_id", type: .uuid, isPrimaryKey: true)
        let note = ModelClass(name: "Note", table: "note", properties: [key])
        let link = ModelProperty(name: "note", type: .link(to: "Note"), isOptional: true)
        let page = ModelClass(name: "Page", table: "page", properties: [key, link])
        try await DevelopmentMigration.add(
            try ModelDocument(app: ServerModel.developmentApp, classes: [note, page]), database)
        let error = await #expect(throws: ServerModelError.self) {
            let half = AppDocuments(models: try ModelDocument(app: "notes", classes: [note]))
            return try await Migrator.toDocuments([half], on: connection)
        }
        #expect(error?.description.contains("Page: added by devices") == true, "\(String(describing: error))")
        let whole = AppDocuments(models: try ModelDocument(app: "notes", classes: [note, page]))
        try await Migrator.toDocuments([whole], on: connection).apply()
        #expect(
            try await documents(connection) == ["models of development (version 3)", "models of notes (version 2)"])
        await connection.close()
    }

    @Test("in development mode a table that Tombolo didn't create is left alone until it is adopted")
    func foreignTables() async throws {
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        try await connection.execute(
            "CREATE TABLE payroll (_id bigint PRIMARY KEY, amount bigint NOT NULL); INSERT INTO payroll VALUES (1, 2)")
        let payroll = ModelClass(
            name: "Payroll", table: "payroll",
            properties: [
                ModelProperty(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                ModelProperty(name: "amount", type: .int(bits: 64)),
            ])
        let brought = try ModelDocument(app: ServerModel.developmentApp, classes: [payroll])
        try await DevelopmentMigration.prepare(database)
        let error = await #expect(throws: MigrationError.self) { try await DevelopmentMigration.add(brought, database) }
        #expect(error?.description.contains("migration-tool adopt") == true, "\(String(describing: error))")
        #expect(error?.isRetryable == false)
        #expect(try await documents(connection) == [])
        #expect(try await PostgresCatalog.read(connection).triggers.isEmpty)
        let adopted = AppDocuments(models: try ModelDocument(app: "staff", classes: [payroll]))
        try await Migrator.toDocuments([adopted], on: connection).apply()
        #expect(try await documents(connection) == ["models of staff (version 1)"])
        await connection.close()
    }
}
