import ArgumentParser
import TomboloPostgresStore
import TomboloServerModel
import ToolSupport

/// `migration-tool audit`
struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compare the audit log with the tables.", subcommands: [Verify.self])

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replay the audit log from empty and compare what comes of it with the tables.",
            discussion: """
                Changes that the log hasn't copied yet are left out. It reads all of the log, and may run beside \
                everything else.
                """)

        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withConnection { connection in
                let model = try await ServerModel(DocumentTable.newest(connection))
                let report = try await AuditVerification.run(model.schema, on: connection)
                for name in report.incomplete {
                    print("\(name): not compared; the objects from before the log aren't all in it yet.")
                }
                if report.isShortened {
                    print("Old months of the log were dropped: what they say is missing below.")
                }
                for difference in report.differences { print("\(difference)") }
                guard report.differences.isEmpty else {
                    print("The audit log differs from the tables.")
                    throw ExitCode.failure
                }
                print("The audit log replays to the tables.")
            }
        }
    }
}
