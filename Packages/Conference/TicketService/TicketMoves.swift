import EventModels
import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel

/// The transactions that move tickets: two round trips for any number of moves.
///
/// Each event has an advisory lock: to lock its row takes the right to update it. It saves moves from getting in each other's
/// way; that each rank is there once is up to the unique index.
///
/// Moves that share a transaction must not wait for each other's events, nor fail for each other's values. What could hold
/// the others up is made again in a transaction of its own: a move whose lock somebody else holds, one in an event with very
/// many tickets, one that needs new ranks for all of them, and all moves of a transaction that a writer without the lock gets
/// in the way of, or of which the database refuses a value.
struct TicketMoves: Sendable {
    struct Wish: Sendable {
        let ticket: ObjectId
        let event: ObjectId
        let place: TicketMove
        /// Who asks, for the audit log.
        var origin: ChangeOrigin?
    }

    enum Answer: Sendable {
        case done(TicketOrder.Outcome)
        /// The ticket isn't among those of a live event.
        case notFound
        /// It has to be made in a transaction of its own.
        case alone
    }

    /// How long a transaction of several moves waits for a writer that has no lock of an event but of a ticket or a
    /// rank, in milliseconds.
    static let lockTimeoutMilliseconds = 100

    /// Of a transaction of several moves. A plan for each number of moves would take longer than it saves. Moves leave
    /// dead rows behind, which bitmap scans go through again and again: index scans mark them, and skip them from then on.
    private static let settings = PostgresStatement(
        """
        SELECT set_config('lock_timeout', '\(lockTimeoutMilliseconds)ms', true), \
        set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_bitmapscan', 'off', true)
        """)

    /// Tickets of an event that a transaction of several moves reads.
    static let sharedTicketLimit = 5_000

    /// `$1` are events, here and in the next three.
    private static let lock = "SELECT pg_advisory_xact_lock(\(lockKey)) FROM unnest($1::bytea[]) AS e"
    private static let tryLock = "SELECT e FROM unnest($1::bytea[]) AS e WHERE pg_try_advisory_xact_lock(\(lockKey))"
    /// Two events with the same hash only wait for each other. The seed keeps them apart from what others lock.
    private static let lockKey = "hashtextextended(encode(e, 'hex'), 7236001)"
    private let read: String
    /// At most one ticket more of each event than ``sharedTicketLimit``.
    private let readSome: String
    /// `$1` are events, `$2` tickets, and `$3` ranks.
    private let write: String
    /// `$1` is an event, `$2` a ticket.
    private let find: String

    /// - Throws: `ValueError` if the schema isn't one of the conference's models.
    init(_ schema: Schema) throws {
        let events = try ClassTable<Event>(schema)
        let tickets = try ClassTable<Ticket>(schema)
        let (id, event, rank) = (tickets[\._id], tickets[\.event], tickets[\.rank])
        // A statement of its own sees what was committed while the lock was waited for.
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
        // A ticket that left its event, or was deleted, after it was read.
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

    /// Makes one move, and waits for the event's turn.
    /// - Returns: nil if the ticket isn't among those of a live event.
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

    /// What writes all new ranks and says who asked for them; nothing if there are none. Of two who move one ticket the
    /// last counts, as for its place.
    private func statements(
        _ content: [ObjectId: TicketPlaces], of wishes: [Wish]
    ) throws -> [PostgresStatement] {
        let moved = content.flatMap { event, places in places.moved.map { (event: event, ticket: $0, rank: $1) } }
        guard !moved.isEmpty else { return [] }
        let written = PostgresStatement(
            write, [Self.keys(moved.map(\.event)), Self.keys(moved.map(\.ticket)), .textArray(moved.map(\.rank))])
        let origins =
            wishes.compactMap { wish in wish.origin.map { (wish.ticket.stringValue, $0) } }
            // A move alone may have given all tickets new ranks.
            + (wishes.count == 1
                ? moved.compactMap { move in wishes[0].origin.map { (move.ticket.stringValue, $0) } } : [])
        guard let route = origins.first?.1.route else { return [written] }
        let byTicket = Dictionary(origins, uniquingKeysWith: { $1 })
        return [written, ChangeOrigin.statement(of: byTicket, route: route)]
    }

    private static func keys(_ ids: some Sequence<ObjectId>) -> PostgresParameter { .byteaArray(ids.map(\.bytes)) }
}

extension PostgresError {
    /// Another writer took the rank, or a deadlock or serialization failure: the transaction was rolled back and may be
    /// done again.
    var isConflict: Bool {
        code == .uniqueViolation || code == .deadlockDetected || code == .serializationFailure
    }
}
