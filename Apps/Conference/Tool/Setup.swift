import ArgumentParser
import ConferenceSetup
import TomboloMigration
import TomboloPostgresStore
import ToolSupport

/// `conference setup`
struct Setup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add what is missing from the platform's database.",
        discussion: """
            Only adds. Everything that PostgreSQL can do in a transaction is done in one, so a failure leaves the \
            database as it was. Only one run at a time is allowed.

            Boxes of the permission matrix and roles that were changed in the admin server stay as they are. They are \
            listed.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var boxes: BoxOptions

    @Flag(name: .shortAndLong, help: "Print every step.")
    var verbose = false

    @Flag(help: "Print the steps with their SQL, and do nothing.")
    var dryRun = false

    func run() async throws {
        let (verbose, dryRun, boxes) = (verbose, dryRun, boxes)
        try await database.withConnection { connection in
            let migrator = try await Conference.migrator(connection, replacesBoxes: boxes.replaceBoxes)
            if dryRun {
                let plan = try await migrator.plan()
                for step in plan.steps { print("-- \(step.name)\n\(step.sql);\n") }
                for note in plan.notes { print("-- \(note.replacing("\n", with: "\n-- "))") }
                for problem in plan.problems { print("-- Can't be changed automatically: \(problem)") }
                Advice.print(plan.advice)
                return
            }
            let plan = try await migrator.applying { step, place, total in
                if verbose { print("\(place)/\(total) \(step.name)") }
            }
            let steps = plan.steps
            for note in plan.notes { print(note) }
            print(steps.isEmpty ? "The database is already up to date." : "Applied \(steps.count) steps.")
            Advice.print(plan.advice)
        }
    }
}
