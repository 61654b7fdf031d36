import EventModels
public import PostgresClient
import PostgresValues
import TomboloHTTP
public import TomboloModel

/// The order of an event's tickets: a text rank for each, unique within the event. A move writes one row.
public struct TicketOrder: Sendable {
    private let pool: PostgresPool
    private let events: ClassTable<Event>
    private let tickets: ClassTable<Ticket>

    /// How often a move is tried again when a writer that does not lock the event's tickets (a device's upload, plain
    /// SQL) got in between.
    public static let attemptLimit = 5

    /// - Throws: `ValueError` if the schema isn't one of the conference's models.
    public init(schema: Schema, pool: PostgresPool) throws {
        self.pool = pool
        events = try ClassTable(schema)
        tickets = try ClassTable(schema)
    }

    /// What a move came to.
    public struct Outcome: Hashable, Sendable {
        public let rank: String
        /// From 1, among all tickets of the event.
        public let position: Int
        /// False where the ticket was in its place already.
        public let isChanged: Bool
    }

    /// Moves a ticket within its event, in one transaction under the locks of the event's tickets: moves of one event
    /// happen one after the other, moves of different events do not wait for each other.
    /// - Parameter event: the event that the ticket belonged to when the caller was permitted to move it.
    /// - Throws: `RequestFailure`: 404 when the ticket or its event is gone, 409 when it belongs to another event by
    ///   now, 422 when the other ticket is none of the event's.
    public func move(_ ticket: ObjectId, of event: ObjectId, to place: TicketMove) async throws -> Outcome {
        guard place.anchor != ticket else {
            throw RequestFailure(
                .unprocessable, "A ticket cannot stand before or after itself.", hint: "Name another ticket.")
        }
        var attempt = 1
        while true {
            do {
                return try await pool.transaction { connection in
                    try await move(ticket, of: event, to: place, connection)
                }
            } catch let error as PostgresError
                where attempt < Self.attemptLimit && (error.code == .uniqueViolation || Self.isConflict(error))
            {
                attempt += 1
            }
        }
    }

    /// Deadlock or serialization failure: the transaction was rolled back and may be done again.
    private static func isConflict(_ error: PostgresError) -> Bool {
        error.code == .deadlockDetected || error.code == .serializationFailure
    }

    nonisolated(nonsending) private func move(
        _ ticket: ObjectId, of event: ObjectId, to place: TicketMove, _ connection: PostgresConnection
    ) async throws -> Outcome {
        // Not the event's row: to lock one takes the right to update it.
        try await connection.query(
            """
            SELECT 1 FROM \(tickets) WHERE \(tickets[\.event]) = $1 ORDER BY \(tickets[\._id]) FOR NO KEY UPDATE
            """, [.objectId(event)])
        let found = try await connection.query(
            "SELECT 1 FROM \(events) WHERE \(events[\._id]) = $1 AND \(TrashColumns.when) IS NULL",
            [.objectId(event)])
        guard !found.isEmpty else { throw RequestFailure.noSuchObject("Event") }

        // Read after the lock was taken: what earlier moves did is visible to each new statement.
        let current = try await rank(of: ticket, in: event, connection)
        guard let current else {
            let elsewhere = try await connection.query(
                "SELECT 1 FROM \(tickets) WHERE \(tickets[\._id]) = $1", [.objectId(ticket)])
            guard elsewhere.isEmpty else {
                throw RequestFailure(
                    .conflict, "The ticket belongs to another event by now.", hint: "Read it again, then move it.",
                    properties: ["event"])
            }
            throw RequestFailure.noSuchObject("Ticket")
        }
        let (lower, upper) = try await gap(place, ticket, event, connection)
        if (lower.map { $0.precedes(current) } ?? true), (upper.map { current.precedes($0) } ?? true) {
            return Outcome(
                rank: current, position: try await position(current, event, connection), isChanged: false)
        }
        let rank: String
        do throws(ValueError) {
            rank = try FractionalRank.between(lower, upper)
        } catch {
            throw RequestFailure(
                .conflict, "The ranks of the event's tickets leave no room there.",
                hint: "Give each ticket of the event a rank of its own.", properties: ["rank"], cause: error)
        }
        try await connection.query(
            "UPDATE \(tickets) SET \(tickets[\.rank]) = $2 WHERE \(tickets[\._id]) = $1",
            [.objectId(ticket), .text(rank)])
        return Outcome(rank: rank, position: try await position(rank, event, connection), isChanged: true)
    }

    /// The ranks that the new one goes between, the moving ticket left out; nil for an end.
    nonisolated(nonsending) private func gap(
        _ place: TicketMove, _ ticket: ObjectId, _ event: ObjectId, _ connection: PostgresConnection
    ) async throws -> (lower: String?, upper: String?) {
        func edge(_ sql: String, _ anchor: String? = nil) async throws -> String? {
            let rank = tickets[\.rank]
            var parameters: [PostgresParameter] = [.objectId(event), .objectId(ticket)]
            if let anchor { parameters.append(.text(anchor)) }
            let result = try await connection.query(
                "SELECT \(sql)(\(rank)) FROM \(tickets) WHERE \(tickets[\.event]) = $1 AND \(tickets[\._id]) <> $2"
                    + (anchor == nil ? "" : " AND \(rank) \(sql == "max" ? "<" : ">") $3"), parameters)
            return try result.first?[0].nonNull?.string
        }
        switch place {
        case .first: return (nil, try await edge("min"))
        case .last: return (try await edge("max"), nil)
        case .before(let other):
            let rank = try await anchorRank(other, event, connection)
            return (try await edge("max", rank), rank)
        case .after(let other):
            let rank = try await anchorRank(other, event, connection)
            return (rank, try await edge("min", rank))
        }
    }

    nonisolated(nonsending) private func anchorRank(
        _ ticket: ObjectId, _ event: ObjectId, _ connection: PostgresConnection
    ) async throws -> String {
        guard let rank = try await rank(of: ticket, in: event, connection) else {
            throw RequestFailure(
                .unprocessable, "The event has no ticket with the id that says where to move.",
                hint: "Name another ticket of the same event.")
        }
        return rank
    }

    nonisolated(nonsending) private func rank(
        of ticket: ObjectId, in event: ObjectId, _ connection: PostgresConnection
    ) async throws -> String? {
        try await connection.query(
            "SELECT \(tickets[\.rank]) FROM \(tickets) WHERE \(tickets[\._id]) = $1 AND \(tickets[\.event]) = $2",
            [.objectId(ticket), .objectId(event)]
        ).first?[0].string
    }

    nonisolated(nonsending) private func position(
        _ rank: String, _ event: ObjectId, _ connection: PostgresConnection
    ) async throws -> Int {
        let result = try await connection.query(
            "SELECT count(*) FROM \(tickets) WHERE \(tickets[\.event]) = $1 AND \(tickets[\.rank]) <= $2",
            [.objectId(event), .text(rank)])
        return try result[0, 0].int
    }
}

extension String {
    /// By bytes, as `COLLATE "C"`.
    fileprivate func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
