import Foundation

/// The bare statements by `pgbench`, a loop on libpq that reads results and throws them away: what PostgreSQL can do.
struct RawTickets: Sendable {
    enum Statement: String, CaseIterable {
        case list = "SELECT an event's tickets"
        case move = "UPDATE a ticket's rank"
    }

    private static let places = ["/usr/bin/pgbench", "/usr/local/bin/pgbench", "/opt/homebrew/bin/pgbench"]

    /// Of each connection.
    private static let transactionCount = 1_000

    let data: TicketData
    let url: String
    private let program: String

    /// Nil where there is no `pgbench`.
    init?(data: TicketData, url: String) throws {
        guard let program = Self.places.first(where: FileManager.default.isExecutableFile) else { return nil }
        (self.data, self.url, self.program) = (data, url, program)
    }

    /// Transactions per second.
    func rate(_ statement: Statement, connectionCount: Int) async throws -> Double {
        let script = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString).sql")
        try Data(sql(statement).utf8).write(to: script)
        defer { try? FileManager.default.removeItem(at: script) }
        let arguments = [
            "--no-vacuum", "--protocol=prepared", "--client=\(connectionCount)", "--jobs=1",
            "--transactions=\(Self.transactionCount)", "--file=\(script.path)", url,
        ]
        let program = program
        let text = try await Blocking.run {
            let process = Process()
            process.executableURL = URL(filePath: program)
            process.arguments = arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: data, as: UTF8.self)
        }
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
            let rate = line.split(separator: " ").dropFirst(2).first.flatMap({ Double($0) })
        else { throw BenchError("pgbench said: \(text)") }
        return rate
    }

    private func sql(_ statement: Statement) -> String {
        let id = { (kind: Int) in "decode(lpad('\(kind)' || lpad(to_hex(:n::bigint), 16, '0'), 24, '0'), 'hex')" }
        return switch statement {
        case .list:
            """
            \\set n random(0, \(data.eventCount - 1))
            SELECT * FROM ticket WHERE event = \(id(1)) AND is_public AND NOT is_hidden ORDER BY rank, _id;

            """
        case .move:
            """
            \\set n random(0, \(data.eventCount * data.ticketCount - 1))
            \\set r random(0, 1000000000)
            UPDATE ticket SET rank = 'a' || :r WHERE _id = \(id(2));

            """
        }
    }
}
