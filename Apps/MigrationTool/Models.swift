import ArgumentParser
import TomboloMigration
import TomboloModel
import ToolSupport

/// `migration-tool models`
struct Models: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write models for tables that exist already.",
        discussion: """
            Reads the database's tables and writes a model document and the Swift source of classes with these \
            properties. Changes nothing in the database. What can't be a property is reported, with what is possible \
            instead; 'adopt' says what the tables need before devices can synchronise them.

            Example:
              migration-tool models --from-database --app shop --table customer --table product
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: ReverseOptions

    @Flag(name: .customLong("from-database"), help: "Make the models from the database's tables.")
    var isFromDatabase = false

    func validate() throws {
        guard isFromDatabase else {
            throw ValidationError(
                "Pass --from-database. To export a document from Swift classes, call this in the app that has them: "
                    + "ModelDocument(app:objectTypes:).write(to:).")
        }
    }

    func run() async throws {
        try await database.withConnection { connection in
            let tables = try await options.chosenTables(connection)
            let survey = try await DatabaseSurvey.read(connection, schemaName: options.schema, tables: tables)
            do {
                let models = try ReverseModels(of: survey, app: options.app)
                options.tell(models.findings)
                try options.write(models)
            } catch let error as ModelDocumentError {
                throw ToolError("No document can be made: \(error)", fix: "Choose other tables, or another --app.")
            }
        }
    }
}
