/// The bare statements, run by ``PgBench``.
struct RawTickets: Sendable {
    enum Statement: String, CaseIterable {
        case list = "SELECT an event's tickets"
        case move = "UPDATE a ticket's rank"
    }

    /// The number of transactions on each connection.
    private static let transactionCount = 1_000

    let data: TicketData
    private let program: PgBench

    /// Nil if `pgbench` isn't installed.
    init?(data: TicketData, url: String) throws {
        guard let program = try PgBench(url: url) else { return nil }
        (self.data, self.program) = (data, program)
    }

    /// Transactions per second.
    func rate(_ statement: Statement, connectionCount: Int) async throws -> Double {
        try await program.rate(
            sql(statement), connectionCount: connectionCount, count: Self.transactionCount)
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
