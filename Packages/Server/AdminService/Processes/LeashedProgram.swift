import Foundation

/// A program as a child process, which ends with this process at the latest, however that ends.
struct LeashedProgram: Sendable {
    /// The other way of a program's to say something than the one that is read.
    enum Reading: Sendable {
        case output, messages
    }

    /// The shell, which every program is run by, can't be started.
    struct StartFailure: Error {
        let description: String
    }

    /// How the shell calls itself in its own messages.
    let name: String
    /// The program's path and its arguments. Everybody on the machine sees them.
    let words: [String]
    let environment: [String: String]

    /// How long the shell has to end what watches the leash, in seconds.
    private static let leashPatience = 1.0

    /// Runs the program, which has nothing to read, until it ends. A task that is cancelled ends it.
    /// - Parameters:
    ///   - reading: which of its two streams is read.
    ///   - other: what the other one is. It's left open.
    ///   - read: reads until the stream's end, on a thread of its own, and closes it: a process keeps its pipes open. If it
    ///     returns before, the program is ended soon.
    /// - Returns: its status, which is 128 and more if a signal ended it or the shell, and what it said.
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
        // A thread of its own until the program ends: handlers of Foundation's pipes miss the end now and then.
        async let said = DiskQueue().run {
            let said = read(stream.fileHandleForReading)
            // The shell and the program have ended. If somebody killed the shell, what watches the leash holds Foundation
            // back.
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

    /// As shells report it: 128 and the number of the signal if one ended it.
    private static func status(of ended: Process) -> Int32 {
        ended.terminationReason == .uncaughtSignal ? 128 + ended.terminationStatus : ended.terminationStatus
    }

    /// Runs the words after it until they end, or until the other side of standard input is gone: a server that is killed can't
    /// end its children itself.
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
}
