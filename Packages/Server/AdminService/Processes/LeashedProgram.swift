import Foundation

/// A program as a child process that never outlives this process, however this process ends.
struct LeashedProgram: Sendable {
    /// Which of the program's two streams is read.
    enum Reading: Sendable {
        case output, messages
    }

    /// The shell, which runs every program, can't be started.
    struct StartFailure: Error {
        let description: String
    }

    /// The name that the shell uses for itself in its messages.
    let name: String
    /// The program's path and its arguments. Every user of the machine can see them.
    let words: [String]
    let environment: [String: String]

    /// How long the shell has to end the process that watches the leash, in seconds.
    private static let leashPatience = 1.0

    /// Runs the program, which gets no input, until it ends. Cancelling the task kills the program.
    /// - Parameters:
    ///   - reading: which of the two streams is read.
    ///   - other: where the other stream goes. It's left open.
    ///   - read: reads until the end of the stream, on a separate thread, and closes it, because `Process` keeps its
    ///     pipes open. If it returns earlier, the program is killed soon after.
    /// - Returns: the program's status, which is 128 or more if a signal ended it or the shell, and the result of
    ///   `read`.
    /// - Throws: ``StartFailure``.
    func run<Said: Sendable>(
        reading: Reading, other: FileHandle, _ read: @escaping @Sendable (FileHandle) -> Said
    ) async throws -> (status: Int32, said: Said) {
        let (leash, stream) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script, name] + words
        process.environment = environment
        process.standardInput = leash
        switch reading {
        case .output:
            process.standardOutput = stream
            process.standardError = other
        case .messages:
            process.standardOutput = other
            process.standardError = stream
        }
        let letGo: @Sendable () -> Void = { try? leash.fileHandleForWriting.close() }
        defer { letGo() }
        // Blocks a thread until the program ends, since the handlers of Foundation's pipes sometimes miss the end.
        async let said = DiskQueue().run {
            let said = read(stream.fileHandleForReading)
            // The shell and the program have ended. If somebody killed the shell, the process that watches the leash
            // would keep Foundation waiting.
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.leashPatience, execute: letGo)
            return said
        }
        let status = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int32, any Error>) in
                process.terminationHandler = { done.resume(returning: Self.status(of: $0)) }
                do {
                    try Self.withoutBlockedSignals { try process.run() }
                } catch {
                    process.terminationHandler = nil
                    try? stream.fileHandleForWriting.close()
                    try? leash.fileHandleForReading.close()
                    done.resume(
                        throwing: StartFailure(
                            description: "/bin/sh can't be started: \(error.localizedDescription)"))
                }
            }
        } onCancel: {
            letGo()
        }
        return (status, try await said)
    }

    /// The status as shells report it: 128 plus the signal's number if a signal ended the process.
    private static func status(of ended: Process) -> Int32 {
        ended.terminationReason == .uncaughtSignal ? 128 + ended.terminationStatus : ended.terminationStatus
    }

    /// Runs its arguments as a command until that ends, or until the other end of standard input is closed: a server
    /// that is killed can't end its children itself.
    private static let script = """
        exec 3<&0 </dev/null
        "$@" 3<&- &
        child=$!
        { read -r _; kill -KILL "$child"; } <&3 3<&- >/dev/null 2>&1 &
        watch=$!
        wait "$child"
        status=$?
        kill -KILL "$watch"
        wait "$watch" 2>/dev/null
        exit "$status"
        """

    /// Threads of Swift's pool have signals blocked, and children inherit that. A shell would then never notice that
    /// its child has ended.
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
}
