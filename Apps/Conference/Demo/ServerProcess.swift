import ChildPrograms
import Foundation

/// A server's process, on a free port.
final class ServerProcess: Sendable {
    /// How long the server may take until it listens.
    static let startTimeout = Duration.seconds(30)

    /// The address it listens on.
    let address: String
    private let process: Dialogue

    private init(process: Dialogue, address: String) {
        self.process = process
        self.address = address
    }

    /// Starts a program, and reads the address that it listens on from its standard output: a line `gateway
    /// http://…`.
    /// - Parameters:
    ///   - database: the database's address, with the server's own role.
    ///   - name: the beginning of the line.
    /// - Throws: ``DemoFailure`` if there is no such line within ``startTimeout``.
    static func start(_ program: URL, database: String, name: String) async throws -> ServerProcess {
        let process = try await Dialogue(
            program, [],
            environment: [
                "TOMBOLO_DATABASE_URL": database, "TOMBOLO_GATEWAY_PORT": "0", "TOMBOLO_ADMIN_PORT": "0",
                "TOMBOLO_TICKETS_PORT": "0", "TOMBOLO_LOG_LEVEL": "warning",
            ])
        let address = try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                for await line in process.lines {
                    let words = line.split(separator: " ").map(String.init)
                    if words.count == 2, words[0] == name, words[1].hasPrefix("http://") { return words[1] }
                }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: Self.startTimeout)
                throw DemoFailure("\(program.lastPathComponent) didn't start listening within \(Self.startTimeout).")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let address else {
            await process.end()
            throw DemoFailure(
                "\(program.lastPathComponent) exited before it started listening; its messages are "
                    + "above.")
        }
        return ServerProcess(process: process, address: address)
    }

    func end() async { await process.end() }
}
