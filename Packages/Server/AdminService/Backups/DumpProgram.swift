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
        let (leash, messages) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script, "pg_dump", path] + arguments
        process.environment = childEnvironment
        process.standardInput = leash
        process.standardOutput = FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false)
        process.standardError = messages
        let letGo: @Sendable () -> Void = { try? leash.fileHandleForWriting.close() }
        defer { letGo() }
        // A thread of its own until the program ends: handlers of Foundation's pipes miss the end now and then.
        async let said = DiskQueue().run {
            let text = Self.tail(of: messages.fileHandleForReading)
            // The shell and pg_dump have ended. If somebody killed the shell, what watches the leash holds Foundation back.
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.leashPatience, execute: letGo)
            return text
        }
        let status = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int32, any Error>) in
                process.terminationHandler = { done.resume(returning: $0.terminationStatus) }
                do {
                    try Self.withoutBlockedSignals { try process.run() }
                } catch {
                    process.terminationHandler = nil
                    try? messages.fileHandleForWriting.close()
                    done.resume(throwing: BackupFailure("/bin/sh can't be started: \(error.localizedDescription)"))
                }
            }
        } onCancel: {
            letGo()
        }
        let text = try await said
        try Task.checkCancellation()
        guard status == 0 else { throw BackupFailure(ofDump: text, status: status, program: path) }
    }

    /// How long the shell has to end what watches the leash, in seconds.
    private static let leashPatience = 1.0
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

    /// Runs the words after it until they end, or until the other side of standard input is gone: a server that is killed can't
    /// end its children itself.
    private static let script = """
        exec 3<&0 </dev/null
        "$@" 3<&- &
        dump=$!
        { read -r _; kill -KILL "$dump"; } <&3 3<&- >/dev/null 2>&1 &
        watch=$!
        wait "$dump"
        status=$?
        kill -KILL "$watch"
        exit "$status"
        """

    /// Threads of Swift's pool have signals blocked, and children inherit that: a shell then never hears that its child has ended.
    private static func withoutBlockedSignals(_ body: () throws -> Void) throws {
        try withUnsafeTemporaryAllocation(of: sigset_t.self, capacity: 2) { sets in
            guard let none = sets.baseAddress else { return try body() }
            let before = none + 1
            sigemptyset(none)
            pthread_sigmask(SIG_SETMASK, none, before)
            defer { pthread_sigmask(SIG_SETMASK, before, nil) }
            try body()
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
