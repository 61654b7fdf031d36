import Foundation
import PostgresClient
import TomboloHTTP

/// pg_restore, as a child process.
struct RestoreProgram: Sendable {
    /// The path of pg_restore.
    let path: String
    /// The empty database to fill.
    let database: PostgresConfiguration
    /// This process's environment.
    var environment = ProcessInfo.processInfo.environment

    /// Fills the database from a backup.
    /// - Parameter file: the backup's absolute path.
    /// - Throws: ``BackupFailure`` or `CancellationError`. pg_restore has ended by then.
    func run(from file: String) async throws {
        do {
            try await withTimeout(DumpProgram.maximumDuration) { try await restore(from: file) }
        } catch let failure as RequestFailure where failure.code == .timeout {
            throw BackupFailure(
                "pg_restore took longer than \(DumpProgram.maximumDuration.components.seconds / 3_600) hours and was "
                    + "stopped. Restore on the command line, with --jobs: see docs/backups.md.")
        }
    }

    private func restore(from file: String) async throws {
        let program = PostgresProgram(
            path: path, arguments: ["--exit-on-error", file], database: database, environment: environment,
            applicationName: "tombolo restore")
        let end = try await program.run(output: FileHandle.nullDevice)
        guard end.status == 0 else { throw BackupFailure(ofRestore: end.messages, status: end.status, program: path) }
    }
}
