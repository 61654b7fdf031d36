import Foundation
import PostgresClient

/// A program of PostgreSQL's that works on a database, as a child process. No secret is in its arguments, which everybody on the
/// machine sees.
struct PostgresProgram: Sendable {
    let path: String
    /// But for those that say how to connect.
    let arguments: [String]
    let database: PostgresConfiguration
    /// Of this process.
    let environment: [String: String]
    let applicationName: String

    /// The path of a program on the `PATH`.
    /// - Returns: nil if no folder has it.
    static func find(_ name: String, _ path: String?) -> String? {
        (path ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }
            .first(where: FileManager.default.isExecutableFile)
    }

    /// Runs it to its end.
    /// - Returns: how it ended, and the end of what it wrote to standard error.
    /// - Throws: ``BackupFailure`` if it can't be started, or `CancellationError`; it has ended then.
    func run(output: FileHandle) async throws -> (status: Int32, messages: String) {
        let words = [path, "--no-password", "--dbname=\(connectionText)"] + arguments
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let program = LeashedProgram(name: name, words: words, environment: childEnvironment)
        do {
            let (status, text) = try await program.run(reading: .messages, other: output) { Self.tail(of: $0) }
            try Task.checkCancellation()
            return (status, text)
        } catch let failure as LeashedProgram.StartFailure {
            throw BackupFailure(failure.description)
        }
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

    private static let secretKeywords: Set = ["password", "sslpassword"]

    /// What libpq connects by, without secrets.
    private var connectionText: String {
        var keywords = database.keywords.filter { !Self.secretKeywords.contains($0.key) }
        keywords["application_name"] = applicationName
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
