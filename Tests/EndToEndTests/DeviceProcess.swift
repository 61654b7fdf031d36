import Foundation
import Synchronization

/// A device in a process of its own. After being killed, it can be started again on the same file.
actor DeviceProcess {
    /// How long a device may take to answer. Longer than all other limits of the tests, so that those report the
    /// problem first.
    static let answerTimeout = Duration.seconds(240)

    nonisolated let name: String
    nonisolated let file: URL
    private let url: String
    /// The authorities that the device trusts; nil for the system's.
    private let trusted: URL?
    private let token: String
    private let environment: [String: String]
    private var child: ChildProcess?
    private var answers: AsyncStream<String>?
    /// Ids of the listings that the device has reported creating.
    nonisolated let made = Mutex<Set<String>>([])

    init(
        name: String, file: URL, url: String, trusted: URL? = nil, token: String, environment: [String: String] = [:]
    ) {
        self.trusted = trusted
        self.environment = environment
        self.name = name
        self.file = file
        self.url = url
        self.token = token
    }

    /// Starts the process and opens the file.
    func start() async throws {
        let command = await OrdinaryUser.command(try Programs.device, [file.path()])
        let child = try await ChildProcess(
            command.program, command.arguments, environment: environment,
            messages: file.appendingPathExtension("messages"))
        self.child = child
        let (answers, continuation) = AsyncStream.makeStream(of: String.self)
        self.answers = answers
        Task {
            for await line in child.lines {
                if line.hasPrefix("+ ") {
                    _ = made.withLock { $0.insert(String(line.dropFirst(2))) }
                } else {
                    continuation.yield(line)
                }
            }
            continuation.finish()
        }
        try await ask(["open", url, token] + (trusted.map { [$0.path()] } ?? []))
    }

    /// - Throws: ``EndToEndFailure`` with the device's error message.
    @discardableResult
    func ask(_ words: String...) async throws -> String { try await ask(words) }

    @discardableResult
    func ask(_ words: [String]) async throws -> String {
        guard let child, let answers else { throw EndToEndFailure("Device \(name) does not run.") }
        child.write(words.joined(separator: "\t"))
        let name = name
        let answer = try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                for await line in answers { return line }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: Self.answerTimeout)
                throw EndToEndFailure("Device \(name) did not answer '\(words)' in \(Self.answerTimeout).")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let answer else { throw EndToEndFailure("Device \(name) ended while it was asked '\(words)'.") }
        guard answer.hasPrefix("= ") else {
            throw EndToEndFailure("Device \(name) could not '\(words)': \(answer.dropFirst(2))")
        }
        return String(answer.dropFirst(2))
    }

    /// Kills the device, as a crash would.
    func kill9() async throws {
        try await child?.signal(SIGKILL)
        child = nil
        answers = nil
    }

    func signal(_ number: Int32) async throws { try await child?.signal(number) }
}
