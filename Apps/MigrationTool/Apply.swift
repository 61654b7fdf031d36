import ArgumentParser
import TomboloMigration
import TomboloPostgresStore
import ToolSupport

/// `migration-tool apply`
struct Apply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add what is missing from the database.",
        discussion: """
            Only adds. Everything that PostgreSQL can do in a transaction is done in one, so a failure leaves the \
            database as it was. Only one run at a time is allowed.

            Creates the roles that servers connect as, such as tombolo_gateway, and grants their rights: see \
            docs/database-roles.md. They can't log in until you allow it.

            Boxes of the permission matrix and roles that were changed in the admin server stay as they are when \
            newer rules are applied. They are listed.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var models: ModelOptions
    @OptionGroup var boxes: BoxOptions

    @Flag(name: .shortAndLong, help: "Print every step.")
    var verbose = false

    func run() async throws {
        let (models, boxes) = (models, boxes)
        let verbose = verbose
        try await database.withConnection { connection in
            let migrator = try await models.migrator(connection, replacesBoxes: boxes.replaceBoxes)
            let plan = try await migrator.applying { step, place, total in
                if verbose { print("\(place)/\(total) \(step.name)") }
            }
            let steps = plan.steps
            for note in plan.notes { print(note) }
            print(
                steps.isEmpty
                    ? "The database is already up to date."
                    : "Applied \(steps.count == 1 ? "1 step" : "\(steps.count) steps").")
            Advice.print(plan.advice)
        }
    }
}
