import ChildPrograms
import Foundation

/// A running `demo-device`, controlled through its standard input.
final class DeviceProcess: Sendable {
    /// How long a device may take to answer.
    static let answerTimeout = Duration.seconds(60)

    let name: String
    let file: URL
    private let process: Dialogue
    private let onProgress: @Sendable (String) -> Void

    init(name: String, program: URL, file: URL, onProgress: @escaping @Sendable (String) -> Void) async throws {
        self.name = name
        self.file = file
        self.onProgress = onProgress
        process = try await Dialogue(program, [file.path()])
    }

    /// Sends a command and waits for its answer.
    /// - Throws: ``DemoFailure`` with the device's error message.
    @discardableResult
    func ask(_ words: String...) async throws -> String {
        process.say(words.joined(separator: "\t"))
        let answer = try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask { await self.answer() }
            group.addTask {
                try await Task.sleep(for: Self.answerTimeout)
                throw DemoFailure("Device \(self.name) didn't answer '\(words[0])' within \(Self.answerTimeout).")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let answer else { throw DemoFailure("Device \(name) exited while answering '\(words[0])'.") }
        guard answer.hasPrefix("= ") else {
            throw DemoFailure("Device \(name) couldn't '\(words[0])': \(answer.dropFirst(2))")
        }
        return String(answer.dropFirst(2))
    }

    /// The next line that isn't a progress report.
    private func answer() async -> String? {
        for await line in process.lines {
            guard line.hasPrefix("~ ") else { return line }
            onProgress(String(line.dropFirst(2)))
        }
        return nil
    }

    /// Ends the process, and kills it if it doesn't end.
    func end() async {
        _ = try? await ask("quit")
        await process.end()
    }
}
