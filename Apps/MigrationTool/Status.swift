import ArgumentParser
import Foundation
import TomboloMigration
import TomboloPostgresStore
import ToolSupport

/// `migration-tool status`
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what was applied, when and by whom, and what is missing.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var models: ModelOptions

    @Flag(help: "Exit with code 1 if anything is missing.")
    var check = false

    func run() async throws {
        let models = models
        let check = check
        try await database.withConnection { connection in
            let status = try await models.migrator(connection).status()
            if status.applied.isEmpty { print("Nothing has been applied yet.") }
            for record in status.applied {
                let warning = record.isIntact ? "" : "  CHANGED: the recorded SQL doesn't match its checksum"
                let time = record.appliedAt.formatted(.iso8601)
                print(
                    "\(record.number)  \(time)  \(record.appliedBy)  \(record.checksum.prefix(12))  \(record.name)\(warning)"
                )
            }
            Advice.print(status.pending.advice)
            if status.pending.isEmpty {
                print("The database is up to date.")
            } else {
                let count = status.pending.steps.count
                print("Missing: \(count == 1 ? "1 step" : "\(count) steps"); see 'migration-tool plan'.")
                for problem in status.pending.problems { print("Can't be changed automatically: \(problem)") }
                if check { throw ExitCode.failure }
            }
        }
    }
}
