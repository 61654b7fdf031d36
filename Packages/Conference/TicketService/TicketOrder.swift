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

    /// How often a move is tried again when a writer that does not wait for its turn (a device's upload, plain SQL) got
    /// in between.
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

    /// The ticket isn't among those of a live event.
    private struct NotFound: Error {}

    /// Moves a ticket within its event, in one transaction of two round trips. Moves of one event happen one after the
    /// other, moves of different events do not wait for each other.
    /// - Parameter event: the event that the ticket belonged to when the caller was permitted to move it.
    /// - Throws: `RequestFailure`: 404 when the ticket or its event is gone, 409 when it belongs to another event by
    ///   now, 422 when the other ticket is none of the event's.
    public func move(_ ticket: ObjectId, of event: ObjectId, to place: TicketMove) async throws -> Outcome {
        guard place.anchor != ticket else {
            throw RequestFailure(
                .unprocessable, "A ticket cannot stand before or after itself.", hint: "Name another ticket.")
        }
        for attempt in 1...Self.attemptLimit {
            do {
                if let outcome = try await tryMove(ticket, event, place) { return outcome }
            } catch let error as PostgresError where attempt < Self.attemptLimit && Self.isConflict(error) {
            } catch is NotFound {
                break
            }
        }
        throw try await reason(ticket, event)
    }

    /// Another writer took the rank, or a deadlock or serialization failure: the transaction was rolled back and may be
    /// done again.
    private static func isConflict(_ error: PostgresError) -> Bool {
        error.code == .uniqueViolation || error.code == .deadlockDetected || error.code == .serializationFailure
    }

    /// - Returns: nil if the ticket left the event while it was being moved.
    private func tryMove(_ ticket: ObjectId, _ event: ObjectId, _ place: TicketMove) async throws -> Outcome? {
        let (id, rank, ofEvent) = (tickets[\._id], tickets[\.rank], "\(tickets[\.event]) = $1")
        // The lock of one ticket stands for the event: to lock the event's own row takes the right to update it. It
        // saves moves from getting in each other's way; that each rank is there once is up to the unique index.
        let lock = "SELECT 1 FROM \(tickets) WHERE \(ofEvent) ORDER BY \(id) LIMIT 1 FOR NO KEY UPDATE"
        // A statement of its own sees what was committed while the lock was waited for.
        let read = """
            SELECT \(id), \(rank) FROM \(tickets) WHERE \(ofEvent) AND EXISTS (
                SELECT 1 FROM \(events) WHERE \(events[\._id]) = $1 AND \(TrashColumns.when) IS NULL)
            ORDER BY \(rank)
            """
        let write = "UPDATE \(tickets) SET \(rank) = $3 WHERE \(id) = $2 AND \(ofEvent)"
        let (outcome, written) = try await pool.withConnection { connection in
            try await connection.transaction(
                first: [.init(lock, [.objectId(event)]), .init(read, [.objectId(event)])]
            ) { results in
                let places = TicketPlaces(
                    places: try results[1].map { .init(id: try $0[0].objectId, rank: try $0[1].string) })
                guard let outcome = try places.outcome(moving: ticket, to: place) else { throw NotFound() }
                let last = PostgresStatement(write, [.objectId(event), .objectId(ticket), .text(outcome.rank)])
                return (outcome, outcome.isChanged ? [last] : [])
            }
        }
        return outcome.isChanged && written[0].affectedRows == 0 ? nil : outcome
    }

    /// Why there is nothing to move.
    private func reason(_ ticket: ObjectId, _ event: ObjectId) async throws -> RequestFailure {
        let found = try await pool.query(
            """
            SELECT EXISTS (SELECT 1 FROM \(events) WHERE \(events[\._id]) = $1 AND \(TrashColumns.when) IS NULL),
                EXISTS (SELECT 1 FROM \(tickets) WHERE \(tickets[\._id]) = $2)
            """, [.objectId(event), .objectId(ticket)])[0]
        if try !found[0].bool { return RequestFailure.noSuchObject("Event") }
        if try !found[1].bool { return RequestFailure.noSuchObject("Ticket") }
        return RequestFailure(
            .conflict, "The ticket belongs to another event by now.", hint: "Read it again, then move it.",
            properties: ["event"])
    }
}
