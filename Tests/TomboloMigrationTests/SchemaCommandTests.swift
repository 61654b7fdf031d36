import Foundation
import PostgresClient
import ChildPrograms
import TestSupport
import Testing
import TomboloModel

/// `migration-tool plan`, `apply` and `status`, on model documents.
@Suite struct SchemaCommandTests {
    private func run(_ arguments: [String], _ address: String) async throws -> ProgramRun.Outcome {
        try await BuiltProgram("migration-tool", "MigrationTool").run(
            arguments, environment: ["TOMBOLO_DATABASE_URL": address])
    }

    @Test("a database gets the tables of the documents that are named, and of nothing else")
    func documentsBecomeTables() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        var address = "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432")"
        address += " user=\(configuration.user ?? "") dbname=\(configuration.database ?? "")"
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
        let tables = try await connection.query(
            "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        #expect(try tables.map { try $0[0].string } == ["listing", "viewing", "viewing_remarks"])
        await connection.close()
    }

    @Test("a document that can't be read, or rules that don't fit, change nothing and are explained")
    func badDocumentsAreExplained() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        var address = "host=\(configuration.keywords["host"] ?? "") port=\(configuration.keywords["port"] ?? "5432")"
        address += " user=\(configuration.user ?? "") dbname=\(configuration.database ?? "")"
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
            (["--models", "/nowhere/models.json"], "/nowhere/models.json cannot be read"),
            (["--models", broken.path()], "isn't a model document"),
        ] {
            let outcome = try await run(["apply"] + arguments, address)
            #expect(outcome.status == 1)
            #expect(outcome.messages.contains(expected), "\(outcome.messages)")
        }
        let connection = try await PostgresConnection.connect(configuration)
        let tables = try await connection.query(
            "SELECT count(*) FROM pg_tables WHERE schemaname IN ('public', 'tombolo')")
        #expect(try tables[0, 0].int == 0)
        await connection.close()
    }
}
