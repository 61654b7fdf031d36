import ArgumentParser
import Foundation
import PostgresClient
import TomboloMigration
import TomboloModel
import TomboloServerModel
import ToolSupport

/// The tables and rules that a command works on.
struct ModelOptions: ParsableArguments {
    @Option(
        name: .customLong("models"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "The apps' model documents, as exported by their code.",
            discussion: "Other apps that share the database keep what they have.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var files: [String] = []

    @Option(
        name: .customLong("rules"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "These apps' rule documents, in the order of --models; see docs/rules.md.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var ruleFiles: [String] = []

    @Option(
        help: ArgumentHelp(
            "The prefix of the servers' role names; chosen once for a database.",
            discussion: """
                Roles belong to the whole PostgreSQL cluster: databases whose servers mustn't reach each other's rows \
                need separate roles. The default is what the database already has, or 'tombolo', as in tombolo_gateway.
                """, valueName: "prefix"))
    var rolePrefix: String?

    func validate() throws {
        guard ruleFiles.count <= files.count else {
            throw ValidationError("Each --rules file belongs to one of --models, but there are more rules than models.")
        }
    }

    /// Creates a migrator from the database's current documents to the named ones.
    /// - Parameter replacesBoxes: whether rules are stored as given, without keeping changes that were made in an
    ///   admin server.
    /// - Throws: ``ToolError`` for a document that can't be read, or for documents that conflict.
    nonisolated(nonsending) func migrator(
        _ connection: PostgresConnection, replacesBoxes: Bool = false
    ) async throws -> Migrator {
        var apps: [AppDocuments] = []
        var documents: [(file: String, models: ModelDocument)] = []
        for (index, file) in files.enumerated() {
            let models: ModelDocument
            let text = try Self.text(file)
            do throws(ModelDocumentError) {
                models = try ModelDocument(json: text)
            } catch {
                throw ToolError(error, file: file)
            }
            documents.append((file, models))
            apps.append(
                AppDocuments(models: models, rules: index < ruleFiles.count ? try Self.text(ruleFiles[index]) : nil))
        }
        try ModelConflicts.check(documents)
        do {
            return try await Migrator.toDocuments(
                apps, on: connection, rolePrefix: rolePrefix, replacesBoxes: replacesBoxes)
        } catch let error as ServerModelError {
            throw ToolError(error, naming: files + ruleFiles)
        } catch let error as ModelDocumentError {
            throw ToolError(
                "Older versions of the app wouldn't work with the new models:\n\(error)",
                fix: "Correct the models and export them again. Nothing was changed.")
        }
    }

    private static func text(_ file: String) throws -> String {
        do {
            return try String(contentsOf: URL(filePath: file), encoding: .utf8)
        } catch {
            throw ToolError("Can't read \(file): \(error.localizedDescription)", fix: "Check the path.")
        }
    }
}
