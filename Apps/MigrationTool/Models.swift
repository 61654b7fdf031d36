import ArgumentParser
import TomboloMigration
import TomboloModel
import ToolSupport

/// `migration-tool models`
struct Models: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write models for existing tables.",
        discussion: """
            Reads the database's tables and writes a model document and the Swift source of matching classes. Changes \
            nothing in the database. What can't be a property is reported, with alternatives; 'adopt' says what the \
            tables need before devices can synchronise them.

            Example:
              migration-tool models --from-database --app shop --table customer --table product
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: ReverseOptions

    @Flag(name: .customLong("from-database"), help: "Create the models from the database's tables.")
    var isFromDatabase = false

    func validate() throws {
        guard isFromDatabase else {
            throw ValidationError(
                "Pass --from-database. To export a document from Swift classes, call this in their app: "
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
                throw ToolError("Can't create a document: \(error)", fix: "Choose other tables or another --app.")
            }
        }
    }
}
