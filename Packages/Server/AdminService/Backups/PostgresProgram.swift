import Foundation
import PostgresClient

/// A PostgreSQL client program as a child process. Its arguments contain no secrets, since every user of the machine
/// can see them.
struct PostgresProgram: Sendable {
    let path: String
    /// Without those that say how to connect.
    let arguments: [String]
    let database: PostgresConfiguration
    /// This process's environment.
    let environment: [String: String]
    let applicationName: String

    /// The path of a program on the `PATH`.
    /// - Returns: nil if no folder contains it.
    static func find(_ name: String, _ path: String?) -> String? {
        (path ?? "/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }
            .first(where: FileManager.default.isExecutableFile)
    }

    /// Runs the program until it ends.
    /// - Returns: its status, and the end of what it wrote to standard error.
    /// - Throws: ``BackupFailure`` if it can't be started, or `CancellationError`. It has ended by then.
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

    /// How much of the program's messages is kept, in bytes.
    private static let tailByteCount = 4_096

    /// Reads until the end of the stream and closes the pipe: Foundation's `Process` keeps its pipes open.
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

    /// The connection string for libpq, without secrets.
    private var connectionText: String {
        var keywords = database.keywords.filter { !Self.secretKeywords.contains($0.key) }
        keywords["application_name"] = applicationName
        // A dump uses the database's own encoding.
        keywords["client_encoding"] = nil
        keywords["connect_timeout"] = "\(database.connectTimeout.components.seconds)"
        return keywords.sorted { $0.key < $1.key }.map { key, value in
            "\(key)='\(value.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
        }.joined(separator: " ")
    }

    /// The environment without the server's own secrets. Messages are in English, so that they can be parsed.
    private var childEnvironment: [String: String] {
        var variables = environment.filter { !$0.key.hasPrefix("TOMBOLO_") }
        variables["LC_ALL"] = "C"
        if let password = database.keywords["password"] { variables["PGPASSWORD"] = password }
        return variables
    }
}
