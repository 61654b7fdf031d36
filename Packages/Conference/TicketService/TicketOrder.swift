import Batching
import EventModels
public import PostgresClient
import PostgresValues
import TomboloHTTP
public import TomboloModel

/// The order of an event's tickets: a text rank for each, unique within the event. A move writes one row.
///
/// Moves that are asked for at about the same time share a transaction, see ``TicketMoves``: most of what one costs is its
/// commit and its statements, not its row.
public struct TicketOrder: Sendable {
    /// Moves in one transaction. One transaction at a time: what comes meanwhile makes the next one larger, which costs less
    /// than a second one beside it.
    static let bounds = BatchBounds(size: 64)

    /// How often a move is tried again when a writer that does not wait for its turn (a device's upload, plain SQL) got
    /// in between.
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
            // For whoever is in the batch, not for the one whose request began it.
            try await PostgresBorrower.$current.withValue(nil) { try await sql.move(wishes, pool) }
        }
    }

    /// What a move came to.
    public struct Outcome: Hashable, Sendable {
        public let rank: String
        /// From 1, among all tickets of the event.
        public let position: Int
        /// False where the ticket was in its place already.
        public let isChanged: Bool
    }

    /// Moves a ticket within its event. Moves of one event happen one after the other, moves of different events do not
    /// wait for each other.
    /// - Parameter event: the event that the ticket belonged to when the caller was permitted to move it.
    /// - Throws: `RequestFailure`: 404 when the ticket or its event is gone, 409 when it belongs to another event by
    ///   now, 422 when the other ticket is none of the event's.
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
