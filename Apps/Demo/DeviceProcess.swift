import Foundation
import Synchronization

/// A running `demo-device`, asked over its standard input.
final class DeviceProcess: Sendable {
    /// A device has this long to answer.
    static let answerTimeout = Duration.seconds(60)

    let name: String
    let file: URL
    private let input: FileHandle
    private let answers: AsyncStream<String>
    private let process: Mutex<Process>

    init(name: String, program: URL, file: URL, onProgress: @escaping @Sendable (String) -> Void) throws {
        self.name = name
        self.file = file
        let process = Process()
        process.executableURL = program
        process.arguments = [file.path()]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        self.input = input.fileHandleForWriting
        let (answers, continuation) = AsyncStream.makeStream(of: String.self)
        self.answers = answers
        try process.run()
        self.process = Mutex(process)
        let reading = output.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while true {
                let data = reading.availableData
                if data.isEmpty { break }
                rest.append(data)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                    rest.removeSubrange(rest.startIndex...end)
                    if line.hasPrefix("~ ") { onProgress(String(line.dropFirst(2))) } else { continuation.yield(line) }
                }
            }
            continuation.finish()
        }
    }

    /// Sends a command and waits for its answer.
    /// - Throws: ``DemoFailure`` with what the device said went wrong.
    @discardableResult
    func ask(_ words: String...) async throws -> String {
        try input.write(contentsOf: Data((words.joined(separator: "\t") + "\n").utf8))
        let answers = answers
        let answer = try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                for await line in answers { return line }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: Self.answerTimeout)
                throw DemoFailure("Device \(self.name) did not answer '\(words[0])' in \(Self.answerTimeout).")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let answer else { throw DemoFailure("Device \(name) ended while it was asked '\(words[0])'.") }
        guard answer.hasPrefix("= ") else {
            throw DemoFailure("Device \(name) could not '\(words[0])': \(answer.dropFirst(2))")
        }
        return String(answer.dropFirst(2))
    }

    /// Ends the process; kills it where it does not.
    func end() async {
        _ = try? await ask("quit")
        process.withLock { process in
            process.terminate()
            process.waitUntilExit()
        }
    }
}
