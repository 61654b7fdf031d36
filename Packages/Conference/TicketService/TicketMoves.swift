import EventModels
import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel

/// The transactions that move tickets: two round trips for any number of moves.
///
/// Each event has an advisory lock, because locking the event's row would take the right to update it. The lock only
/// keeps moves from interfering with each other; the unique index guarantees that each rank occurs once.
///
/// Moves that share a transaction must not wait for each other's events, nor fail because of each other's values. A
/// move that could hold up the others is redone in its own transaction: a move whose event is locked, a move in an
/// event with very many tickets, or a move that needs new ranks for all tickets. If a writer without the lock
/// interferes, or the database refuses a value, all moves of the transaction are redone that way.
struct TicketMoves: Sendable {
    struct Wish: Sendable {
        let ticket: ObjectId
        let event: ObjectId
        let place: TicketMove
        /// The caller, for the audit log.
        var origin: ChangeOrigin?
    }

    enum Answer: Sendable {
        case done(TicketOrder.Outcome)
        /// The ticket isn't one of a live event's tickets.
        case notFound
        /// The move needs its own transaction.
        case alone
    }

    /// How long a transaction of several moves waits for a writer that holds no event lock but has locked a ticket or
    /// a rank, in milliseconds.
    static let lockTimeoutMilliseconds = 100

    /// Settings for a transaction of several moves. Planning separately for each number of moves would take longer
    /// than it saves. Moves leave dead rows behind, which bitmap scans visit again and again; index scans mark them,
    /// and skip them from then on.
    private static let settings = PostgresStatement(
        """
        SELECT set_config('lock_timeout', '\(lockTimeoutMilliseconds)ms', true), \
        set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_bitmapscan', 'off', true)
        """)

    /// The number of an event's tickets that a transaction of several moves reads.
    static let sharedTicketLimit = 5_000

    /// `$1` is the events, here and in the next three.
    private static let lock = "SELECT pg_advisory_xact_lock(\(lockKey)) FROM unnest($1::bytea[]) AS e"
    private static let tryLock = "SELECT e FROM unnest($1::bytea[]) AS e WHERE pg_try_advisory_xact_lock(\(lockKey))"
    /// Two events with the same hash merely wait for each other. The seed avoids collisions with other advisory
    /// locks.
    private static let lockKey = "hashtextextended(encode(e, 'hex'), 7236001)"
    private let read: String
    /// Reads at most ``sharedTicketLimit`` tickets of each event, plus one.
    private let readSome: String
    /// `$1` is the events, `$2` the tickets, and `$3` the ranks.
    private let write: String
    /// `$1` is the event, `$2` the ticket.
    private let find: String

    /// - Throws: `ValueError` if the schema isn't one of the conference's models.
    init(_ schema: Schema) throws {
        let events = try ClassTable<Event>(schema)
        let tickets = try ClassTable<Ticket>(schema)
        let (id, event, rank) = (tickets[\._id], tickets[\.event], tickets[\.rank])
        // A separate statement sees what was committed while waiting for the lock.
        read = """
            SELECT t.\(event), t.\(id), t.\(rank) FROM \(tickets) t
            WHERE t.\(event) = ANY ($1) AND t.\(TrashColumns.when) IS NULL AND EXISTS (
                SELECT 1 FROM \(events) e WHERE e.\(events[\._id]) = t.\(event) AND e.\(TrashColumns.when) IS NULL)
            ORDER BY t.\(rank)
            """
        readSome = """
            SELECT t.\(event), t.\(id), t.\(rank) FROM unnest($1::bytea[]) AS wanted(id) CROSS JOIN LATERAL (
                SELECT \(event), \(id), \(rank) FROM \(tickets)
                WHERE \(event) = wanted.id AND \(TrashColumns.when) IS NULL
                ORDER BY \(rank) LIMIT \(Self.sharedTicketLimit + 1)) t
            WHERE EXISTS (
                SELECT 1 FROM \(events) e WHERE e.\(events[\._id]) = wanted.id AND e.\(TrashColumns.when) IS NULL)
            ORDER BY t.\(rank)
            """
        write = """
            UPDATE \(tickets) SET \(rank) = ($3)[array_position($2, \(id))]
            WHERE \(id) = ANY ($2) AND \(event) = ($1)[array_position($2, \(id))] AND \(TrashColumns.when) IS NULL
            RETURNING \(id)
            """
        find = """
            SELECT EXISTS (SELECT 1 FROM \(events) WHERE \(events[\._id]) = $1 AND \(TrashColumns.when) IS NULL),
                EXISTS (SELECT 1 FROM \(tickets) WHERE \(id) = $2 AND \(TrashColumns.when) IS NULL)
            """
    }

    // MARK: Together

    /// Makes several moves in one transaction, in this order.
    func move(_ wishes: [Wish], _ pool: PostgresPool) async throws -> [Result<Answer, any Error>] {
        do {
            return try await tryMove(wishes, pool)
        } catch let error as PostgresError where error.isConflict || error.isRefusal || error.code == .lockNotAvailable
        {
            return wishes.map { _ in .success(.alone) }
        }
    }

    private func tryMove(_ wishes: [Wish], _ pool: PostgresPool) async throws -> [Result<Answer, any Error>] {
        let events = Self.keys(Set(wishes.map(\.event)))
        var (answers, written) = try await pool.withConnection { connection in
            try await connection.transaction(
                first: [Self.settings, .init(Self.tryLock, [events]), .init(readSome, [events])]
            ) { results in
                var content = try places(results[2])
                let locked = Set(try results[1].map { try $0[0].objectId })
                let answers = wishes.map { answer($0, locked, &content) }
                return (answers, try statements(content, of: wishes))
            }
        }
        // The ticket left its event or was deleted after it was read.
        let found = Set(try (written.first?.map { try $0[0].objectId }) ?? [])
        for (place, wish) in wishes.enumerated() {
            guard case .success(.done(let outcome)) = answers[place], outcome.isChanged else { continue }
            if !found.contains(wish.ticket) { answers[place] = .success(.alone) }
        }
        return answers
    }

    private func answer(
        _ wish: Wish, _ locked: Set<ObjectId>, _ content: inout [ObjectId: TicketPlaces]
    ) -> Result<Answer, any Error> {
        guard let count = content[wish.event]?.places.count else { return .success(.notFound) }
        guard locked.contains(wish.event), count <= Self.sharedTicketLimit else { return .success(.alone) }
        do {
            guard let outcome = try content[wish.event]?.move(wish.ticket, to: wish.place) else {
                return .success(.notFound)
            }
            return .success(.done(outcome))
        } catch is TicketPlaces.NeedsNewRanks {
            return .success(.alone)
        } catch {
            return .failure(error)
        }
    }

    // MARK: Alone

    /// Makes one move, waiting for the event's lock.
    /// - Returns: nil if the ticket isn't one of a live event's tickets.
    func moveAlone(_ wish: Wish, _ pool: PostgresPool) async throws -> TicketOrder.Outcome? {
        let event = Self.keys([wish.event])
        let (outcome, written) = try await pool.withConnection { connection in
            try await connection.transaction(first: [.init(Self.lock, [event]), .init(read, [event])]) { results in
                var content = try places(results[1], mayRenumber: true)
                let outcome = try content[wish.event]?.move(wish.ticket, to: wish.place)
                return (outcome, try statements(content, of: [wish]))
            }
        }
        return outcome?.isChanged == true && written.first?.isEmpty != false ? nil : outcome
    }

    /// Why there is nothing to move.
    func reason(_ wish: Wish, _ pool: PostgresPool) async throws -> RequestFailure {
        let found = try await pool.query(find, [.objectId(wish.event), .objectId(wish.ticket)])[0]
        if try !found[0].bool { return RequestFailure.noSuchObject("Event") }
        if try !found[1].bool { return RequestFailure.noSuchObject("Ticket") }
        return RequestFailure(
            .conflict, "The ticket now belongs to another event.", hint: "Read it again, then move it.",
            properties: ["event"])
    }

    // MARK: Rows and parameters

    /// By event.
    private func places(_ result: PostgresResult, mayRenumber: Bool = false) throws -> [ObjectId: TicketPlaces] {
        var places: [ObjectId: [TicketPlaces.Place]] = [:]
        for row in result {
            places[try row[0].objectId, default: []].append(.init(id: try row[1].objectId, rank: try row[2].string))
        }
        return places.mapValues { TicketPlaces(places: $0, mayRenumber: mayRenumber) }
    }

    /// The statements that write all new ranks and record who asked for them; none if there are no new ranks. If two
    /// callers moved the same ticket, the last one is recorded, just as their position wins.
    private func statements(
        _ content: [ObjectId: TicketPlaces], of wishes: [Wish]
    ) throws -> [PostgresStatement] {
        let moved = content.flatMap { event, places in places.moved.map { (event: event, ticket: $0, rank: $1) } }
        guard !moved.isEmpty else { return [] }
        let written = PostgresStatement(
            write, [Self.keys(moved.map(\.event)), Self.keys(moved.map(\.ticket)), .textArray(moved.map(\.rank))])
        let origins =
            wishes.compactMap { wish in wish.origin.map { (wish.ticket.stringValue, $0) } }
            // A single move may have given all tickets new ranks.
            + (wishes.count == 1
                ? moved.compactMap { move in wishes[0].origin.map { (move.ticket.stringValue, $0) } } : [])
        guard let route = origins.first?.1.route else { return [written] }
        let byTicket = Dictionary(origins, uniquingKeysWith: { $1 })
        return [written, ChangeOrigin.statement(of: byTicket, route: route)]
    }

    private static func keys(_ ids: some Sequence<ObjectId>) -> PostgresParameter { .byteaArray(ids.map(\.bytes)) }
}

extension PostgresError {
    /// Another writer took the rank, or there was a deadlock or serialization failure. The transaction was rolled
    /// back and can be retried.
    var isConflict: Bool {
        code == .uniqueViolation || code == .deadlockDetected || code == .serializationFailure
    }
}
