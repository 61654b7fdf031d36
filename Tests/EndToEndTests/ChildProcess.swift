import Foundation
import Synchronization

/// A running program whose standard output comes line by line.
final class ChildProcess: Sendable {
    let pid: pid_t
    let lines: AsyncStream<String>
    private let input: Mutex<FileHandle>
    private let exit: AsyncStream<Void>
    private let process: Mutex<Process>

    init(_ program: URL, _ arguments: [String], environment: [String: String] = [:], messages: URL) throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        if !FileManager.default.fileExists(atPath: messages.path()) {
            _ = FileManager.default.createFile(atPath: messages.path(), contents: nil)
        }
        let log = try FileHandle(forWritingTo: messages)
        try log.seekToEnd()
        process.standardError = log
        for handle in [input.fileHandleForWriting, output.fileHandleForReading, log] {
            _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        let undertaker = try Undertaker.shared.get()
        let (exit, exited) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in exited.finish() }
        try process.run()
        pid = process.processIdentifier
        undertaker.began(pid)
        self.exit = exit
        self.input = Mutex(input.fileHandleForWriting)
        self.process = Mutex(process)
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        let reading = output.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while true {
                let data = reading.availableData
                if data.isEmpty { break }
                rest.append(data)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest.removeSubrange(rest.startIndex...end)
                }
            }
            continuation.finish()
        }
    }

    func write(_ line: String) throws {
        try input.withLock { try $0.write(contentsOf: Data((line + "\n").utf8)) }
    }

    /// Sends a signal; SIGKILL and SIGTERM wait for the end.
    func signal(_ number: Int32) async throws {
        kill(pid, number)
        guard number == SIGKILL || number == SIGTERM else { return }
        for await _ in exit {}
        try Undertaker.shared.get().ended(pid)
    }
}
