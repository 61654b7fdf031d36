public import Foundation
private import Synchronization

/// A program that was started, with nothing to read unless given. It is killed when nobody holds this any more.
public final class ProgramRun: Sendable {
    public struct Outcome: Sendable {
        /// The exit status; minus the number of the signal that ended it.
        public let status: Int32
        /// Its standard output.
        public let output: String
        /// Its standard error.
        public let messages: String

        /// The lines of the output that are not empty.
        public var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    public let pid: pid_t
    private let process: Mutex<Process>
    private let ended: AsyncStream<Void>
    private let output: URL
    private let messages: URL
    private let input: URL?

    /// - Parameters:
    ///   - environment: in addition to that of the tests.
    ///   - folder: the working directory; nil for that of the tests.
    ///   - input: its standard input; nothing where nil.
    public init(
        _ program: URL, _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil,
        input: String? = nil
    ) throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let folder { process.currentDirectoryURL = folder }
        // Files, for a pipe that nobody reads stops a program.
        let name = FileManager.default.temporaryDirectory.appending(path: "program-\(UUID().uuidString)")
        output = name.appendingPathExtension("output")
        messages = name.appendingPathExtension("messages")
        for file in [output, messages] { try Data().write(to: file) }
        self.input = input.map { _ in name.appendingPathExtension("input") }
        if let input, let file = self.input {
            try Data(input.utf8).write(to: file)
            process.standardInput = try FileHandle(forReadingFrom: file)
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: messages)
        let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in continuation.finish() }
        self.ended = ended
        try process.run()
        pid = process.processIdentifier
        self.process = Mutex(process)
    }

    deinit {
        process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } }
        for file in [output, messages, input] {
            if let file { try? FileManager.default.removeItem(at: file) }
        }
    }

    public var isRunning: Bool { process.withLock { $0.isRunning } }

    /// Waits for the end.
    public func outcome() async throws -> Outcome {
        for await _ in ended {}
        return Outcome(
            status: process.withLock { $0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus },
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            messages: String(decoding: try Data(contentsOf: messages), as: UTF8.self))
    }
}
