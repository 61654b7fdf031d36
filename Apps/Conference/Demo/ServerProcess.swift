import ChildPrograms
import Foundation

/// A process with servers, on free ports.
final class ServerProcess: Sendable {
    /// The servers have this long to listen.
    static let startTimeout = Duration.seconds(30)

    /// Where they listen, by name.
    let addresses: [String: String]
    private let process: Dialogue

    private init(process: Dialogue, addresses: [String: String]) {
        self.process = process
        self.addresses = addresses
    }

    /// Starts a program and reads from its standard output where its servers listen: lines `gateway http://…`.
    /// - Throws: ``DemoFailure`` if one of them doesn't within ``startTimeout``.
    static func start(_ program: URL, _ arguments: [String], servers: Set<String>) async throws -> ServerProcess {
        let process = try await Dialogue(
            program, arguments,
            environment: [
                "TOMBOLO_GATEWAY_PORT": "0", "TOMBOLO_ADMIN_PORT": "0", "TOMBOLO_TICKETS_PORT": "0",
                "TOMBOLO_LOG_LEVEL": "warning",
            ])
        let addresses = try await withThrowingTaskGroup(of: [String: String].self) { group in
            group.addTask {
                var found: [String: String] = [:]
                for await line in process.lines {
                    let words = line.split(separator: " ").map(String.init)
                    if words.count == 2, words[1].hasPrefix("http://") { found[words[0]] = words[1] }
                    if servers.isSubset(of: found.keys) { break }
                }
                return found
            }
            group.addTask {
                try await Task.sleep(for: Self.startTimeout)
                throw DemoFailure("\(program.lastPathComponent) did not listen within \(Self.startTimeout).")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? [:]
        }
        guard servers.isSubset(of: addresses.keys) else {
            await process.end()
            throw DemoFailure("\(program.lastPathComponent) ended before it listened; its messages are above.")
        }
        return ServerProcess(process: process, addresses: addresses)
    }

    func end() async { await process.end() }
}
