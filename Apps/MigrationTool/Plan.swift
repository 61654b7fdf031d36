import ArgumentParser
import TomboloMigration
import TomboloPostgresStore
import ToolSupport

/// `migration-tool plan`
struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what 'apply' would do, with its SQL. Changes nothing.",
        discussion: "Exit codes: 0 'apply' can do it, 1 something must be changed first.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var models: ModelOptions
    @OptionGroup var boxes: BoxOptions

    @Flag(help: "Print only the names of the steps.")
    var namesOnly = false

    func run() async throws {
        let (models, boxes) = (models, boxes)
        try await database.withConnection { connection in
            let plan = try await models.migrator(connection, replacesBoxes: boxes.replaceBoxes).plan()
            if plan.isEmpty { print("The database is up to date.") }
            for (position, step) in plan.steps.enumerated() {
                if namesOnly {
                    print("\(position + 1). \(step.name)")
                } else {
                    let note = step.isTransactional ? "" : " (outside a transaction)"
                    print("-- \(position + 1). \(step.name)\(note)\n\(step.sql);\n")
                }
            }
            for note in plan.notes { print("-- \(note.replacing("\n", with: "\n-- "))") }
            for problem in plan.problems { print("-- Can't be changed automatically: \(problem)") }
            Advice.print(plan.advice)
            if !plan.problems.isEmpty { throw ExitCode.failure }
        }
    }
}
