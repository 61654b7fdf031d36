import ChildPrograms
import Foundation

/// A running program that ends with the tests, however they end.
final class ChildProcess: Sendable {
    private let dialogue: Dialogue

    var pid: pid_t { dialogue.pid }
    var lines: AsyncStream<String> { dialogue.lines }

    init(_ program: URL, _ arguments: [String], environment: [String: String] = [:], messages: URL) async throws {
        let undertaker = try await Undertaker.shared.value
        dialogue = try await Dialogue(program, arguments, environment: environment, messages: messages)
        undertaker.began(pid)
    }

    func write(_ line: String) { dialogue.say(line) }

    /// Sends a signal. For SIGKILL and SIGTERM it also waits until the program has ended.
    func signal(_ number: Int32) async throws {
        kill(pid, number)
        guard number == SIGKILL || number == SIGTERM else { return }
        try await dialogue.status()
        try await Undertaker.shared.value.ended(pid)
    }
}
