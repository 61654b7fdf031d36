import Batching
import EventModels
public import PostgresClient
import PostgresValues
import TomboloHTTP
public import TomboloModel

/// The order of an event's tickets: each has a text rank that is unique within the event. A move writes one row.
///
/// Moves requested at about the same time share a transaction, see ``TicketMoves``: most of the cost of a move is its
/// commit and its statements, not its row.
public struct TicketOrder: Sendable {
    /// The number of moves in one transaction. Only one transaction runs at a time. Moves that arrive meanwhile make
    /// the next one larger, which costs less than running a second one concurrently.
    static let bounds = BatchBounds(size: 64)

    /// How often a move is retried after a conflict with a writer that doesn't take the lock (a device's upload,
    /// plain SQL).
    public static let attemptLimit = 5

    private let pool: PostgresPool
    private let sql: TicketMoves
    private let batches: RequestBatcher<TicketMoves.Wish, TicketMoves.Answer>

    /// - Throws: `ValueError` if the schema isn't one of the conference's models.
    public init(schema: Schema, pool: PostgresPool) throws {
        let sql = try TicketMoves(schema)
        self.pool = pool
        self.sql = sql
        batches = RequestBatcher(
            Self.bounds, overload: RequestFailure.tooManyWaiting, on: { EventLoopTaskExecutor.current }
        ) { wishes in
            // On behalf of the whole batch, not of the caller whose request started it.
            try await PostgresBorrower.$current.withValue(nil) { try await sql.move(wishes, pool) }
        }
    }

    /// The result of a move.
    public struct Outcome: Hashable, Sendable {
        public let rank: String
        /// From 1, among all tickets of the event.
        public let position: Int
        /// False if the ticket was already in that place.
        public let isChanged: Bool
    }

    /// Moves a ticket within its event. Moves within one event happen one after the other; moves in different events
    /// don't wait for each other.
    /// - Parameter event: the event that the ticket belonged to when the caller was permitted to move it.
    /// - Throws: `RequestFailure`: 404 if the ticket or its event is gone, 409 if the ticket now belongs to another
    ///   event, 422 if the other ticket isn't one of the event's.
    public func move(_ ticket: ObjectId, of event: ObjectId, to place: TicketMove) async throws -> Outcome {
        guard place.anchor != ticket else {
            throw RequestFailure(
                .unprocessable, "A ticket can't be placed before or after itself.", hint: "Name another ticket.")
        }
        let wish = TicketMoves.Wish(
            ticket: ticket, event: event, place: place, origin: ChangeOrigin.current)
        switch try await batches.answer(wish) {
        case .done(let outcome): return outcome
        case .notFound: break
        case .alone:
            for attempt in 1...Self.attemptLimit {
                do {
                    if let outcome = try await sql.moveAlone(wish, pool) { return outcome }
                    break
                } catch let error as PostgresError where attempt < Self.attemptLimit && error.isConflict {}
            }
        }
        throw try await sql.reason(wish, pool)
    }
}
