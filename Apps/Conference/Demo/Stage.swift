import ChildPrograms
import Foundation
import Synchronization

/// Everything that the demo needs, up and running: a migrated and filled database, the servers, and two devices.
struct Stage: Sendable {
    let psql: URL
    let sqlite: URL
    let databaseURL: String
    let gateway: String
    let admin: String
    let tickets: String
    let a: DeviceProcess
    let b: DeviceProcess
    private let servers: [ServerProcess]
    private let folder: URL

    /// The users that `conference sample` creates.
    static let organizer = (email: "organizer@example.org", password: "organizer-demo")
    static let administrator = (email: "admin@example.org", password: "administrator-demo")

    static func build(export: String?) async throws -> Stage {
        let environment = ProcessInfo.processInfo.environment
        guard let databaseURL = environment["TOMBOLO_DATABASE_URL"], !databaseURL.isEmpty else {
            throw DemoFailure("TOMBOLO_DATABASE_URL is not set. 'make demo' starts a database and sets it.")
        }
        let psql = try Tool.find("psql", package: "postgresql-client")
        let sqlite = try Tool.find("sqlite3", package: "sqlite3")
        let conference = try BuiltProgram("conference").url

        say("1. Migrating the database and importing a real conference\n")
        try await Tool.run(conference, ["setup"])
        var sample = ["sample"]
        if let export { sample += ["--export", export] }
        say(try await Tool.run(conference, sample).split(separator: "\n").map { "   \($0)" }.joined(separator: "\n"))

        // Another app on the same database and servers.
        let homes = "Apps/Examples/Listings"
        try await Tool.run(
            BuiltProgram("migration-tool").url,
            ["apply", "--models", "\(homes)/listings.models.json", "--rules", "\(homes)/listings.rules.yaml"])
        try await Tool.run(
            psql, ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", databaseURL, "-f", "\(homes)/sample.sql"])

        // Each server connects with its own database role.
        func serve(_ program: String, _ name: String) async throws -> ServerProcess {
            let variable = "TOMBOLO_\(name.uppercased())_DATABASE_URL"
            guard let url = environment[variable], !url.isEmpty else {
                throw DemoFailure(
                    "\(variable) is not set: the database as tombolo_\(name). 'make demo' sets it.")
            }
            return try await ServerProcess.start(BuiltProgram(program).url, database: url, name: name)
        }
        let gateway = try await serve("sync-gateway", "gateway")
        let admin = try await serve("admin-server", "admin")
        let tickets = try await serve("ticket-api", "tickets")
        let folder = FileManager.default.temporaryDirectory.appending(path: "tombolo-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let device = try BuiltProgram("demo-device").url
        let bar = ProgressBar()
        func start(_ name: String) async throws -> DeviceProcess {
            try await DeviceProcess(name: name, program: device, file: folder.appending(path: "device-\(name).realm")) {
                bar.show(name, $0)
            }
        }
        let a = try await start("A")
        let b = try await start("B")
        return Stage(
            psql: psql, sqlite: sqlite, databaseURL: databaseURL, gateway: gateway.address, admin: admin.address,
            tickets: tickets.address, a: a, b: b, servers: [gateway, admin, tickets], folder: folder)
    }

    /// Runs a statement like any service would.
    @discardableResult
    func sql(_ statement: String) async throws -> String {
        try await Tool.run(psql, ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", databaseURL, "-c", statement])
    }

    /// Runs a query on a device's file with the sqlite3 tool, while the device has the file open.
    func sql(_ statement: String, on device: DeviceProcess) async throws -> String {
        try await Tool.run(sqlite, ["-readonly", "-batch", "-noheader", device.file.path(), statement])
    }

    func end() async {
        await a.end()
        await b.end()
        for server in servers { await server.end() }
        try? FileManager.default.removeItem(at: folder)
    }
}

/// Shows the progress of downloads on one line.
final class ProgressBar: Sendable {
    private let last = Mutex("")
    private static let width = 30

    func show(_ device: String, _ progress: String) {
        let numbers = progress.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 2, numbers[1] > 0 else { return }
        let filled = min(Self.width, numbers[0] * Self.width / numbers[1])
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
        let line = "   \(device) \(bar) \(numbers[0]) of \(numbers[1]) objects"
        let isNew = last.withLock { last in
            defer { last = line }
            return last != line
        }
        if isNew { say(line) }
    }
}
