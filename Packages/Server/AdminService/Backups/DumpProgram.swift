import Foundation
import PostgresClient
import TomboloHTTP

/// pg_dump, as a child process.
struct DumpProgram: Sendable {
    /// How long a dump may take.
    static let maximumDuration = Duration.seconds(6 * 3_600)
    /// How long it waits for a table that somebody has locked.
    private static let lockTimeout = "60s"

    /// Of pg_dump.
    let path: String
    let database: PostgresConfiguration
    /// Of this process.
    var environment = ProcessInfo.processInfo.environment

    /// - Returns: nil if no folder of the `PATH` has it.
    static func find(_ path: String?) -> String? { PostgresProgram.find("pg_dump", path) }

    /// Writes the database into a file.
    /// - Throws: ``BackupFailure``, or `CancellationError`; the program has ended then.
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
