import Foundation
import PostgresClient
import ChildPrograms
import TestSupport
import Testing
import TomboloModel

/// `migration-tool plan`, `apply` and `status` with model documents.
@Suite struct SchemaCommandTests {
    private func run(_ arguments: [String], _ address: String) async throws -> ProgramRun.Outcome {
        try await BuiltProgram("migration-tool", "MigrationTool").run(
            arguments, environment: ["TOMBOLO_DATABASE_URL": address])
    }

    @Test("a database gets the tables of the given documents and no others")
    func documentsBecomeTables() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        var address = "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432")"
        address += " connect_timeout=600 user=\(configuration.user ?? "") dbname=\(configuration.database ?? "")"
        let folder = FileManager.default.temporaryDirectory.appending(path: "migration-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "homes.json")
        let json = try ModelDocument(app: "homes", objectTypes: [Listing.self, Viewing.self]).json
        try json.write(to: file, atomically: true, encoding: .utf8)

        let plan = try await run(["plan", "--models", file.path(), "--names-only"], address)
        #expect(plan.status == 0, "\(plan.messages)")
        #expect(plan.output.contains("table listing"))
        #expect(try await run(["status", "--check", "--models", file.path()], address).status == 1)
        let apply = try await run(["apply", "--models", file.path()], address)
        #expect(apply.status == 0, "\(apply.messages)")
        #expect(try await run(["status", "--check", "--models", file.path()], address).status == 0)
        let connection = try await PostgresConnection.connect(configuration)
        // What 'apply' would refuse already fails in 'plan'.
        try await connection.execute("ALTER TABLE listing ALTER COLUMN price TYPE text")
        let refused = try await run(["plan", "--models", file.path()], address)
        #expect(refused.status == 1)
        #expect(
            refused.output.contains("ALTER TABLE public.\"listing\" ALTER COLUMN \"price\" TYPE bigint"),
            "\(refused.output)")
        let tables = try await connection.query(
            "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        #expect(try tables.map { try $0[0].string } == ["listing", "viewing", "viewing_remarks"])
        await connection.close()
    }

    @Test("a document that can't be read and rules that don't fit are explained and change nothing")
    func badDocumentsAreExplained() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        var address = "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432")"
        address += " connect_timeout=600 user=\(configuration.user ?? "") dbname=\(configuration.database ?? "")"
        let folder = FileManager.default.temporaryDirectory.appending(path: "migration-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let broken = folder.appending(path: "broken.json")
        try #"{"app": "homes""#.write(to: broken, atomically: true, encoding: .utf8)
        let models = folder.appending(path: "homes.json").path()
        let json = try ModelDocument(app: "homes", objectTypes: [Listing.self]).json
        try json.write(toFile: models, atomically: true, encoding: .utf8)
        let rules = folder.appending(path: "homes.rules.yaml").path()
        try "version: 1\nrules:\n  Listng:\n    - {name: all, applyWhen: {}, read: true}\n".write(
            toFile: rules, atomically: true, encoding: .utf8)
        for (arguments, expected) in [
            (["--models", models, "--rules", rules], "Listng"),
            (["--models", "/nowhere/models.json"], "Can't read /nowhere/models.json"),
            (["--models", broken.path()], "isn't a model document"),
        ] {
            let outcome = try await run(["apply"] + arguments, address)
            #expect(outcome.status == 1)
            #expect(outcome.messages.contains(expected), "\(outcome.messages)")
            #expect(!outcome.messages.contains("in the database don't form"), "The error must not blame the database.")
        }
        let connection = try await PostgresConnection.connect(configuration)
        let tables = try await connection.query(
            "SELECT count(*) FROM pg_tables WHERE schemaname IN ('public', 'tombolo')")
        #expect(try tables[0, 0].int == 0)
        await connection.close()
    }

    @Test("two incompatible model files are refused with both names, and nothing is applied")
    func conflictingFiles() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        var address = "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432")"
        address += " connect_timeout=600 user=\(configuration.user ?? "") dbname=\(configuration.database ?? "")"
        let folder = FileManager.default.temporaryDirectory.appending(path: "migration-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, app: String, _ className: String, table: String, property: String) throws -> String {
            let document = try ModelDocument(
                app: app,
                classes: [
                    ModelClass(
                        name: className, table: table,
                        properties: [
                            ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true),
                            ModelProperty(name: property, type: .string),
                        ])
                ])
            let path = folder.appending(path: name).path()
            try document.json.write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }
        let shop = try file("shop.json", app: "shop", "Order", table: "order", property: "item")
        let bar = try file("bar.json", app: "bar", "Order", table: "bar_order", property: "drink")
        let club = try file("club.json", app: "club", "Round", table: "order", property: "drink")
        let newShop = try file("new-shop.json", app: "shop", "Basket", table: "basket", property: "item")
        let unlike = try file("crm.json", app: "crm", "Lead", table: "lead", property: "name")
        for command in ["plan", "apply"] {
            for (other, expected) in [
                (bar, "both define the class Order: the apps 'shop' and 'bar'"), (club, "both have the table 'order'"),
                (newShop, "are both documents of the app 'shop'"),
            ] {
                let outcome = try await run([command, "--models", shop, unlike, other], address)
                #expect(outcome.status == 1)
                for text in [expected, "shop.json", URL(filePath: other).lastPathComponent] {
                    #expect(outcome.messages.contains(text), "\(command): \(outcome.messages)")
                }
            }
        }
        let connection = try await PostgresConnection.connect(configuration)
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname IN ('public', 'tombolo')"
        #expect(try await connection.query(tables)[0, 0].int == 0)

        // If applied separately, the second app conflicts with what the database already has.
        #expect(try await run(["apply", "--models", shop, unlike], address).status == 0)
        let count = try await connection.query(tables)[0, 0].int
        let second = try await run(["apply", "--models", bar], address)
        #expect(second.status == 1 && second.messages.contains("'bar' and 'shop' both have a class Order"))
        #expect(try await connection.query(tables)[0, 0].int == count)
        #expect(try await connection.query("SELECT count(*) FROM tombolo.document")[0, 0].int == 2)
        await connection.close()
    }
}
