import ChildPrograms
import Foundation

/// The development process with gateway, admin server and ticket API, on free ports.
final class ServerProcess: Sendable {
    /// The servers have this long to listen.
    static let startTimeout = Duration.seconds(30)

    let gateway: String
    let admin: String
    let tickets: String
    private let process: Dialogue

    private init(process: Dialogue, gateway: String, admin: String, tickets: String) {
        self.process = process
        self.gateway = gateway
        self.admin = admin
        self.tickets = tickets
    }

    /// Starts `tombolo` and reads from its standard output where the three listen: lines `gateway http://…`.
    static func start(_ program: URL) async throws -> ServerProcess {
        let process = try await Dialogue(
            program, ["--quiet"],
            environment: ["TOMBOLO_GATEWAY_PORT": "0", "TOMBOLO_ADMIN_PORT": "0", "TOMBOLO_TICKETS_PORT": "0"])
        let addresses = try await withThrowingTaskGroup(of: [String: String].self) { group in
            group.addTask {
                var found: [String: String] = [:]
                for await line in process.lines {
                    let words = line.split(separator: " ").map(String.init)
                    if words.count == 2, words[1].hasPrefix("http://") { found[words[0]] = words[1] }
                    if found.count == 3 { break }
                }
                return found
            }
            group.addTask {
                try await Task.sleep(for: Self.startTimeout)
                throw DemoFailure("The servers did not listen within \(Self.startTimeout).")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? [:]
        }
        guard let gateway = addresses["gateway"], let admin = addresses["admin"], let tickets = addresses["tickets"]
        else {
            await process.end()
            throw DemoFailure("The servers ended before they listened; their messages are above.")
        }
        return ServerProcess(process: process, gateway: gateway, admin: admin, tickets: tickets)
    }

    func end() async { await process.end() }
}
