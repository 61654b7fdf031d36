public import Foundation
import Subprocess
import Synchronization

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// A started program with empty standard input unless one is given. It is killed when the last reference to this
/// object goes away.
public final class ProgramRun: Sendable {
    /// The most bytes that a program may write to either stream. A program that writes more is killed.
    public static let maximumOutputByteCount = 64 << 20

    public struct Outcome: Sendable {
        /// The exit status, or minus the number of the signal that ended it.
        public let status: Int32
        /// Its standard output.
        public let output: String
        /// Its standard error.
        public let messages: String

        /// The lines of the output, without empty ones.
        public var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    public let pid: Int32
    private let run: Task<Outcome, any Error>
    private let hasEnded: Flag

    private final class Flag: Sendable {
        let value = Mutex(false)
    }

    /// Starts the program.
    /// - Parameters:
    ///   - environment: added to this process's environment.
    ///   - folder: the working directory, or nil for this process's.
    ///   - input: its standard input.
    /// - Throws: `SubprocessError` if it can't be started.
    public init(
        _ program: URL, _ arguments: [String] = [], environment: [String: String] = [:], in folder: URL? = nil,
        input: String = ""
    ) async throws {
        let configuration = Configuration(program, arguments, environment, in: folder)
        let (started, start) = AsyncThrowingStream.makeStream(of: Int32.self)
        let hasEnded = Flag()
        self.hasEnded = hasEnded
        run = Task {
            defer { hasEnded.value.withLock { $0 = true } }
            do {
                let limit = Self.maximumOutputByteCount
                let result = try await Subprocess.run(
                    configuration, input: .string(input), output: .string(limit: limit), error: .string(limit: limit)
                ) { execution in
                    start.yield(execution.processIdentifier.value)
                }
                return Outcome(
                    status: result.terminationStatus.number, output: result.standardOutput,
                    messages: result.standardError)
            } catch {
                start.finish(throwing: error)
                throw error
            }
        }
        guard let pid = try await started.first(where: { _ in true }) else { throw CancellationError() }
        self.pid = pid
    }

    deinit { run.cancel() }

    public var isRunning: Bool { !hasEnded.value.withLock { $0 } }

    /// Waits for the program to end.
    public func outcome() async throws -> Outcome { try await run.value }
}
