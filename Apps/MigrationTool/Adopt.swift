import ArgumentParser
import TomboloMigration
import TomboloModel
import TomboloPostgresStore
import TomboloServerModel
import ToolSupport

/// `migration-tool adopt`
struct Adopt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prepare existing tables for synchronisation.",
        discussion: """
            Reads the tables and every value in them. If a table needs a change first, prints it with the SQL and \
            writes nothing. Otherwise writes the models as 'models' does, and prints the steps that 'apply' will take \
            so that the tables can be synchronised: it adds triggers and indexes and doesn't rewrite tables. This \
            command changes nothing in the database.

            Exit codes: 0 the tables can be adopted, 1 something must be changed first.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: ReverseOptions

    func run() async throws {
        try await database.withConnection { connection in
            let tables = try await options.chosenTables(connection)
            do {
                let adoption = try await Adoption.examine(
                    connection, app: options.app, schemaName: options.schema, tables: tables)
                options.tell(adoption.findings)
                guard adoption.isPossible else {
                    let count = adoption.findings.count { $0.kind == .required }
                    throw ToolError(
                        "\(count == 1 ? "1 change is" : "\(count) changes are") required before these tables can be "
                            + "synchronised.",
                        fix: "Make the changes marked 'required' above, or choose other tables with --table.")
                }
                try options.write(adoption.models)
                for (position, step) in adoption.steps.enumerated() { print("\(position + 1). \(step.name)") }
                print("To adopt the tables: migration-tool apply --models \(options.document)")
            } catch let error as ServerModelError {
                throw ToolError(error, naming: ["the tables' models"])
            } catch let error as ModelDocumentError {
                throw ToolError("Can't create a document: \(error)", fix: "Choose other tables or another --app.")
            }
        }
    }
}
