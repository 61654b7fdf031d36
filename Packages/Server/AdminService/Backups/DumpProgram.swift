import Foundation
import PostgresClient
import TomboloHTTP

/// pg_dump, as a child process.
struct DumpProgram: Sendable {
    /// The time limit for a dump.
    static let maximumDuration = Duration.seconds(6 * 3_600)
    /// How long pg_dump waits for a table that another session has locked.
    private static let lockTimeout = "60s"

    /// The path of pg_dump.
    let path: String
    let database: PostgresConfiguration
    /// This process's environment.
    var environment = ProcessInfo.processInfo.environment

    /// - Returns: nil if no folder of the `PATH` contains it.
    static func find(_ path: String?) -> String? { PostgresProgram.find("pg_dump", path) }

    /// Dumps the database into a file.
    /// - Throws: ``BackupFailure`` or `CancellationError`. pg_dump has ended by then.
    func run(into file: PartialBackup) async throws {
        do {
            try await withTimeout(Self.maximumDuration) { try await dump(into: file) }
        } catch let failure as RequestFailure where failure.code == .timeout {
            throw BackupFailure.tooLong
        }
    }

    private func dump(into file: PartialBackup) async throws {
        let program = PostgresProgram(
            path: path, arguments: ["--format=custom", "--lock-wait-timeout=\(Self.lockTimeout)"], database: database,
            environment: environment, applicationName: "tombolo backup")
        let end = try await program.run(output: FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false))
        guard end.status == 0 else { throw BackupFailure(ofDump: end.messages, status: end.status, program: path) }
    }
}
