import Foundation
import PostgresClient
import TomboloModel

/// Published events with tickets, whose ids are derived from their numbers.
struct TicketData: Sendable {
    let eventCount: Int
    /// The number of tickets of each event.
    let ticketCount: Int

    func event(_ number: Int) -> String { Self.id(1, number) }

    func ticket(_ number: Int, of event: Int) -> String { Self.id(2, event * ticketCount + number) }

    /// Inserts the events, and makes the account that ``BenchDatabase/prepare()`` registered an organizer of each.
    func insert(_ pool: PostgresPool) async throws {
        let ranks = try FractionalRank.sequence(count: ticketCount, between: nil, nil)
        try await pool.query(
            """
            INSERT INTO event (_id, name, identifier, state, privacy, timezone)
            SELECT decode(lpad('1' || lpad(to_hex(e), 16, '0'), 24, '0'), 'hex'), 'Event ' || e, 'event ' || e,
                'published', 'public', 'Europe/Berlin' FROM generate_series(0, $1::bigint - 1) AS e
            """, [.int64(Int64(eventCount))])
        try await pool.query(
            """
            INSERT INTO ticket (_id, event, name, details, kind, price, currency, quantity, rank, is_public)
            SELECT decode(lpad('2' || lpad(to_hex(e * $2::bigint + t - 1), 16, '0'), 24, '0'), 'hex'),
                decode(lpad('1' || lpad(to_hex(e), 16, '0'), 24, '0'), 'hex'), 'Ticket ' || t,
                'What is included in ticket ' || t, 'paid', 1050 * t, 'EUR', 100, ($3::text[])[t], true
            FROM generate_series(0, $1::bigint - 1) AS e, generate_series(1, $2::bigint) AS t
            """, [.int64(Int64(eventCount)), .int64(Int64(ticketCount)), .textArray(ranks)])
        try await pool.execute(
            """
            INSERT INTO role_assignment (_id, "user", role, event)
            SELECT decode(lpad('3' || right(encode(event._id, 'hex'), 16), 24, '0'), 'hex'), users._id, 'organizer', event._id
            FROM event, users;
            ANALYZE
            """)
    }

    private static func id(_ kind: Int, _ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 7) + "\(kind)" + String(repeating: "0", count: 16 - digits.count) + digits
    }
}
