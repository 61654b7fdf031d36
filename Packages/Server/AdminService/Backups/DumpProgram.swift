import Foundation
import PostgresClient
import TomboloHTTP

/// pg_dump as a child process, which ends with this process at the latest, however that ends.
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
    static func find(_ path: String?) -> String? {
        (path ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/pg_dump" }
            .first(where: FileManager.default.isExecutableFile)
    }

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
        let program = LeashedProgram(name: "pg_dump", words: [path] + arguments, environment: childEnvironment)
        let output = FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false)
        let (status, text): (Int32, String)
        do {
            (status, text) = try await program.run(reading: .messages, other: output) { Self.tail(of: $0) }
        } catch let failure as LeashedProgram.StartFailure {
            throw BackupFailure(failure.description)
        }
        try Task.checkCancellation()
        guard status == 0 else { throw BackupFailure(ofDump: text, status: status, program: path) }
    }

    /// Of what the program says, in bytes.
    private static let tailByteCount = 4_096

    /// Waits until everything was said, and closes the pipe: a process keeps its pipes open.
    private static func tail(of handle: FileHandle) -> String {
        defer { try? handle.close() }
        var tail: [UInt8] = []
        var part = [UInt8](repeating: 0, count: tailByteCount)
        while true {
            let count = read(handle.fileDescriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: tail, as: UTF8.self) }
            tail = (tail + part.prefix(count)).suffix(tailByteCount)
        }
    }

    /// Everybody on the machine sees them.
    private var arguments: [String] {
        [
            "--format=custom", "--no-password", "--lock-wait-timeout=\(Self.lockTimeout)",
            "--dbname=\(connectionString)",
        ]
    }

    private static let secretKeywords: Set = ["password", "sslpassword"]

    /// What libpq connects by, without secrets.
    private var connectionString: String {
        var keywords = database.keywords.filter { !Self.secretKeywords.contains($0.key) }
        keywords["application_name"] = "tombolo backup"
        // A dump is in the database's own encoding.
        keywords["client_encoding"] = nil
        keywords["connect_timeout"] = "\(database.connectTimeout.components.seconds)"
        return keywords.sorted { $0.key < $1.key }.map { key, value in
            "\(key)='\(value.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
        }.joined(separator: " ")
    }

    /// Without the server's own secrets; messages are in English, to be understood.
    private var childEnvironment: [String: String] {
        var variables = environment.filter { !$0.key.hasPrefix("TOMBOLO_") }
        variables["LC_ALL"] = "C"
        if let password = database.keywords["password"] { variables["PGPASSWORD"] = password }
        return variables
    }
}
