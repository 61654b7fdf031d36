import Foundation
import Synchronization

/// The development process with gateway, admin server and ticket API, on free ports.
final class ServerProcess: Sendable {
    /// The servers have this long to listen.
    static let startTimeout = Duration.seconds(30)

    let gateway: String
    let admin: String
    let tickets: String
    private let process: Mutex<Process>

    private init(process: Process, gateway: String, admin: String, tickets: String) {
        self.process = Mutex(process)
        self.gateway = gateway
        self.admin = admin
        self.tickets = tickets
    }

    /// Starts `tombolo` and reads from its standard output where the three listen: lines `gateway http://…`.
    static func start(_ program: URL) async throws -> ServerProcess {
        let process = Process()
        process.executableURL = program
        process.arguments = ["--quiet"]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "TOMBOLO_GATEWAY_PORT": "0", "TOMBOLO_ADMIN_PORT": "0", "TOMBOLO_TICKETS_PORT": "0",
        ]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            var rest = Data()
            while true {
                let data = output.fileHandleForReading.availableData
                if data.isEmpty { break }
                rest.append(data)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest.removeSubrange(rest.startIndex...end)
                }
            }
            continuation.finish()
        }
        let addresses = try await withThrowingTaskGroup(of: [String: String].self) { group in
            group.addTask {
                var found: [String: String] = [:]
                for await line in lines {
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
            process.terminate()
            throw DemoFailure("The servers ended before they listened; their messages are above.")
        }
        return ServerProcess(process: process, gateway: gateway, admin: admin, tickets: tickets)
    }

    func end() {
        process.withLock { process in
            process.interrupt()
            process.waitUntilExit()
        }
    }
}
