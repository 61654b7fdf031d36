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
            abstract: "Replay the audit log from the beginning and compare the result with the tables.",
            discussion: """
                Changes that the log hasn't copied yet are left out. This reads the whole log and can run at any time, \
                alongside everything else.
                """)

        @OptionGroup var database: DatabaseOptions

        func run() async throws {
            try await database.withConnection { connection in
                let model = try await ServerModel(DocumentTable.newest(connection))
                let report = try await AuditVerification.run(model.schema, on: connection)
                for name in report.incomplete {
                    print("\(name): not compared: the log doesn't have all the older objects yet.")
                }
                if report.isShortened {
                    print("Old months of the log were dropped, so their entries are missing from the replay.")
                }
                for difference in report.differences { print("\(difference)") }
                guard report.differences.isEmpty else {
                    print("The audit log differs from the tables.")
                    throw ExitCode.failure
                }
                print("The audit log matches the tables.")
            }
        }
    }
}
