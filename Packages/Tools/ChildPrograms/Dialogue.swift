public import Foundation
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// A running program that reads and writes lines. It is ended when the last reference to this object goes away.
public final class Dialogue: Sendable {
    /// How long a program may take to end when asked, before it is killed.
    public static let patience = Duration.seconds(10)

    public let pid: Int32
    /// The lines of its standard output as they arrive, for one reader at a time. They end with the program.
    public let lines: AsyncStream<String>
    private let words: AsyncStream<String>.Continuation
    private let run: Task<Int32, any Error>

    /// Starts the program.
    /// - Parameters:
    ///   - environment: added to this process's environment.
    ///   - messages: a file that its standard error is appended to, or nil for this process's standard error.
    /// - Throws: `SubprocessError` if it can't be started, `Errno` if the file can't be opened.
    public init(
        _ program: URL, _ arguments: [String] = [], environment: [String: String] = [:], messages: URL? = nil
    ) async throws {
        // Writing to a program that has ended must not end this process.
        signal(SIGPIPE, SIG_IGN)
        var configuration = Configuration(program, arguments, environment)
        configuration.platformOptions.teardownSequence = [
            .send(signal: .terminate, allowedDurationToNextStep: Self.patience)
        ]
        let error = try messages.map { try FileDescriptorOutput.appending(to: $0) } ?? .currentStandardError
        let (started, start) = AsyncThrowingStream.makeStream(of: Int32.self)
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let (spoken, words) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        self.words = words
        run = Task { [configuration] in
            defer { line.finish() }
            do {
                let result = try await Subprocess.run(
                    configuration, input: .inputWriter, output: .sequence, error: error
                ) { execution in
                    start.yield(execution.processIdentifier.value)
                    let writing = Task {
                        for await word in spoken {
                            _ = try await execution.standardInputWriter.write(word + "\n")
                        }
                        try await execution.standardInputWriter.finish()
                    }
                    defer { writing.cancel() }
                    let output = execution.standardOutput.strings(
                        separatedBy: .unicodeScalarSequence(["\n"]), bufferingPolicy: .unbounded)
                    for try await text in output { line.yield(text) }
                }
                return result.terminationStatus.number
            } catch {
                start.finish(throwing: error)
                throw error
            }
        }
        guard let pid = try await started.first(where: { _ in true }) else { throw CancellationError() }
        self.pid = pid
    }

    deinit { run.cancel() }

    /// Writes a line to its standard input.
    public func say(_ line: String) { words.yield(line) }

    /// Waits for the program to end.
    /// - Returns: the exit status, or minus the number of the signal that ended it.
    @discardableResult
    public func status() async throws -> Int32 { try await run.value }

    /// Closes the program's standard input, sends SIGTERM, and SIGKILL after ``patience``. Returns once the program
    /// has ended.
    public func end() async {
        words.finish()
        run.cancel()
        _ = await run.result
    }
}

extension FileDescriptorOutput {
    fileprivate static func appending(to file: URL) throws -> FileDescriptorOutput {
        .fileDescriptor(
            try FileDescriptor.open(
                FilePath(file.path()), .writeOnly, options: [.append, .create], permissions: .ownerReadWrite),
            closeAfterSpawningProcess: true)
    }
}
