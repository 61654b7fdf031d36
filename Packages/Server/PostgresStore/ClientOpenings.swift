internal import Batching
internal import PostgresClient
public import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
public import TomboloSyncSession

/// Opens the sessions of many clients in a few statements, because all devices reconnect at once after a gateway
/// restart.
enum ClientOpenings {
    static let bounds = BatchBounds(size: 200, concurrency: 2, waiting: 20_000)

    struct Request: Hashable, Sendable {
        let client: ClientID
        let user: String
        let acknowledged: Int64
    }

    /// What the database knows about a client.
    private struct Found {
        let user: String
        let last: Int64
        let isSeenLongAgo: Bool
        let hasNewlyAcknowledged: Bool
    }

    /// Returns one answer for each request. Requests don't depend on each other, but they all fail if the database
    /// does.
    static func open(
        _ requests: [Request], _ connection: PostgresConnection
    ) async throws -> [Result<ClientOpening, any Error>] {
        let new = requests.filter { $0.acknowledged <= 0 }
        if !new.isEmpty { try await insert(new, connection) }
        let (now, found) = try await find(requests, connection)
        let answers: [Result<ClientOpening, any Error>] = requests.map { request in
            Result { try answer(to: request, found[request], now) }
        }
        let opened = zip(requests, answers).compactMap { request, answer in
            (try? answer.get())?.mustReset == nil && found[request] != nil ? request : nil
        }
        let unseen = opened.filter { found[$0]?.isSeenLongAgo == true }
        if !unseen.isEmpty { try await note(seen: unseen, connection) }
        let news = opened.filter { found[$0]?.hasNewlyAcknowledged == true }
        if !news.isEmpty { try await note(acknowledged: news, at: now, connection) }
        return answers
    }

    private static func answer(
        to request: Request, _ found: Found?, _ now: Stamp
    ) throws(SessionFailure) -> ClientOpening {
        func reset(_ reason: String, last: Int64 = 0) -> ClientOpening {
            ClientOpening(last: last, serverTime: now, mustReset: reason)
        }
        guard let found else {
            guard request.acknowledged > 0 else {
                throw SessionFailure(
                    .unavailable,
                    "This user already has \(StoreLimits.clientsPerUser) devices, the most that the server keeps for "
                        + "one user. Devices that no longer connect are forgotten after some months.",
                    isRetryable: true)
            }
            return reset(
                "The server doesn't know this device, whose changesets were acknowledged up to "
                    + "\(request.acknowledged).")
        }
        guard found.user == request.user else {
            return reset("This device's file belongs to another user.")
        }
        guard found.last >= request.acknowledged else {
            return reset(
                "The server knows this device's changesets only up to \(found.last), not up to "
                    + "\(request.acknowledged).", last: found.last)
        }
        return ClientOpening(last: found.last, serverTime: now)
    }

    // MARK: SQL

    /// Inserts rows for clients that have none, up to the limit of clients per user.
    private static func insert(_ requests: [Request], _ connection: PostgresConnection) async throws {
        // In a fixed order, so that two gateways that open the same clients don't deadlock.
        try await connection.query(
            """
            INSERT INTO tombolo.client (id, user_id)
            SELECT n.id, n.user_id FROM (
                SELECT w.id, w.user_id, row_number() OVER (PARTITION BY w.user_id ORDER BY w.id) AS place
                FROM (SELECT DISTINCT id, user_id FROM unnest($1::bigint[], $2::text[]) AS u (id, user_id)) AS w
                WHERE NOT EXISTS (SELECT 1 FROM tombolo.client k WHERE k.id = w.id)
            ) AS n
            WHERE n.place + (
                SELECT count(*) FROM (SELECT 1 FROM tombolo.client k WHERE k.user_id = n.user_id LIMIT $3) AS c
            ) <= $3
            ORDER BY n.id ON CONFLICT (id) DO NOTHING
            """,
            [
                .int64Array(requests.map(\.client.rawValue)), .textArray(requests.map(\.user)),
                .int64(Int64(StoreLimits.clientsPerUser)),
            ])
    }

    private static func find(
        _ requests: [Request], _ connection: PostgresConnection
    ) async throws -> (now: Stamp, found: [Request: Found]) {
        let rows = try await connection.query(
            """
            SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, c.user_id, c.last,
                c.seen_at < clock_timestamp() - interval '1 day',
                EXISTS (
                    SELECT 1 FROM tombolo.receipt r
                    WHERE r.client = u.id AND r.number <= u.acknowledged AND r.acknowledged_at IS NULL)
            FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS u (id, acknowledged, place)
                LEFT JOIN tombolo.client c ON c.id = u.id
            ORDER BY u.place
            """, [.int64Array(requests.map(\.client.rawValue)), .int64Array(requests.map(\.acknowledged))])
        var found: [Request: Found] = [:]
        for (request, row) in zip(requests, rows) {
            guard let user = try row[1].nonNull?.string else { continue }
            found[request] = Found(
                user: user, last: try row[2].int64, isSeenLongAgo: try row[3].bool,
                hasNewlyAcknowledged: try row[4].bool)
        }
        return (Stamp(microseconds: try rows[0][0].int64), found)
    }

    /// Skips locked rows instead of waiting: the transaction that holds the lock notes the client itself, or the next
    /// opening does.
    private static func note(seen requests: [Request], _ connection: PostgresConnection) async throws {
        try await connection.query(
            """
            UPDATE tombolo.client SET seen_at = clock_timestamp() WHERE id IN (
                SELECT id FROM tombolo.client WHERE id = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED)
            """, [.int64Array(requests.map(\.client.rawValue))])
    }

    private static func note(
        acknowledged requests: [Request], at now: Stamp, _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            """
            UPDATE tombolo.receipt AS r SET acknowledged_at = $3 FROM (
                SELECT k.client, k.number FROM unnest($1::bigint[], $2::bigint[]) AS u (id, acknowledged)
                JOIN tombolo.receipt k ON k.client = u.id AND k.number <= u.acknowledged AND k.acknowledged_at IS NULL
                ORDER BY k.client, k.number FOR NO KEY UPDATE OF k
            ) AS l WHERE r.client = l.client AND r.number = l.number
            """,
            [
                .int64Array(requests.map(\.client.rawValue)), .int64Array(requests.map(\.acknowledged)),
                .int64(now.microseconds),
            ])
    }
}

extension PostgresServerStore {
    public func openClient(_ client: ClientID, user: String, acknowledged: Int64) async throws -> ClientOpening {
        try await openings.answer(
            ClientOpenings.Request(client: client, user: user, acknowledged: acknowledged), lane: user)
    }
}
