import Foundation
import Synchronization

/// Another process of this program, which communicates in lines over its standard streams. It ends when its standard
/// input does, so none outlives this process.
final class BenchProcess: Sendable {
    let processID: Int32
    private let process: Mutex<Process>
    private let input: FileHandle
    private let lines: AsyncStream<String>

    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        guard let program = Bundle.main.executableURL else {
            throw BenchError("This program can't find its own executable.")
        }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        self.input = input.fileHandleForWriting
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        try process.run()
        processID = process.processIdentifier
        self.process = Mutex(process)
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

    /// Reads the next line, which must begin with `word`, and returns what follows.
    func expect(_ word: String, within limit: Duration = .seconds(120)) async throws -> String {
        let lines = lines
        let line = try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                for await line in lines { return line }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: limit)
                throw BenchError("A process didn't say '\(word)' within \(limit).")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let line else { throw BenchError("A process ended before it said '\(word)'.") }
        guard line == word || line.hasPrefix(word + " ") else {
            throw BenchError("A process said '\(line)' instead of '\(word)'.")
        }
        return String(line.dropFirst(word.count + 1))
    }

    func say(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

    /// Ends the process and waits for it.
    func end() {
        process.withLock { process in
            try? input.close()
            guard process.isRunning else { return }
            process.terminate()
            process.waitUntilExit()
        }
    }

    deinit { end() }
}
