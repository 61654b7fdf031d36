import ArgumentParser
import Foundation
import PostgresClient
import TomboloMigration
import TomboloModel
import ToolSupport

/// The options that `models` and `adopt` share: which tables to use, and where to write the models.
struct ReverseOptions: ParsableArguments {
    @Option(help: "The app's name, for the document.")
    var app = "app"

    @Option(help: "The schema that has the tables.")
    var schema = "public"

    @Option(name: .customLong("table"), help: "A table; can be repeated. Default: all tables.")
    var tables: [String] = []

    @Option(help: "Where to write the document.")
    var document = "models.json"

    @Option(help: "Where to write the Swift source.")
    var swift = "Models.swift"

    @Flag(help: "Replace existing files.")
    var force = false

    /// The tables to examine, or nil for all.
    /// - Throws: ``ToolError`` with the closest match for a table or schema that doesn't exist.
    nonisolated(nonsending) func chosenTables(_ connection: PostgresConnection) async throws -> [String]? {
        let schemas = try await connection.query("SELECT nspname::text FROM pg_namespace").map { try $0[0].string }
        guard schemas.contains(schema) else {
            let nearest = schema.nearest(in: schemas).map { "Did you mean '\($0)'?" }
            throw ToolError("The database has no schema '\(schema)'.", fix: nearest ?? "Check --schema.")
        }
        guard !tables.isEmpty else { return nil }
        let names = try await DatabaseSurvey.read(connection, schemaName: schema).tables.map(\.name)
        for table in tables where !names.contains(table) {
            let nearest = table.nearest(in: names).map { "Did you mean '\($0)'?" }
            throw ToolError("\(schema) has no table '\(table)'.", fix: nearest ?? "Check --table and --schema.")
        }
        return tables
    }

    /// - Throws: ``ToolError`` if no table becomes a class, or if a file exists and may not be replaced.
    func write(_ models: ReverseModels) throws {
        guard !models.document.classes.isEmpty else {
            throw ToolError(
                "No table of the schema '\(schema)' can be a class, so nothing was written.",
                fix: models.findings.isEmpty
                    ? "Check --schema and --database-url: the schema has no tables." : "Make the changes listed above.")
        }
        let files = [(document, models.document.json), (swift, models.source)]
        for (path, _) in files where !force && FileManager.default.fileExists(atPath: path) {
            throw ToolError("\(path) already exists.", fix: "Choose another file, or pass --force to replace it.")
        }
        for (path, text) in files {
            do {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            } catch {
                throw ToolError("Can't write \(path): \(error.localizedDescription)", fix: "Check the path.")
            }
        }
        let count = models.document.classes.count
        print("Wrote \(document) and \(swift): \(count == 1 ? "1 class" : "\(count) classes").")
    }

    /// Writes findings to standard error, so that the output can be piped.
    func tell(_ findings: [ReverseFinding]) {
        for finding in findings { FileHandle.standardError.write(Data("\(finding)\n".utf8)) }
    }
}
