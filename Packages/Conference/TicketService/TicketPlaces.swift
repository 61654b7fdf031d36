import TomboloHTTP
import TomboloModel

/// An event's tickets in order, with functions that move them one after the other. Pure: takes what was read and
/// returns what to write.
struct TicketPlaces {
    struct Place: Hashable {
        let id: ObjectId
        let rank: String
    }

    /// The longest rank to create. Beyond it, all tickets of the event get new, short ranks. The database's index
    /// allows about 2,700 bytes.
    static let maximumRankByteCount = 200
    /// The most tickets that get new ranks at once.
    static let renumberedLimit = 5_000

    /// The move needs new ranks for all tickets, but this instance may not assign them.
    struct NeedsNewRanks: Error {}

    /// Sorted by rank.
    private(set) var places: [Place]
    /// The new rank of each ticket that was moved.
    private(set) var moved: [ObjectId: String] = [:]
    /// The earlier ranks of moved tickets. No other ticket gets one of them, since a single statement writes all
    /// ranks and might assign a rank to its new ticket before changing the former one.
    private var former: [String] = []
    private let mayRenumber: Bool

    init(places: [Place], mayRenumber: Bool = true) {
        self.places = places
        self.mayRenumber = mayRenumber
    }

    /// Moves a ticket.
    /// - Returns: nil if the ticket isn't among these tickets.
    /// - Throws: ``RequestFailure``: 422 if the anchor isn't among these tickets, 409 if the ranks leave no room
    ///   there; ``NeedsNewRanks``.
    mutating func move(_ ticket: ObjectId, to move: TicketMove) throws -> TicketOrder.Outcome? {
        guard let current = places.firstIndex(where: { $0.id == ticket }) else { return nil }
        var others = places
        others.remove(at: current)
        let target: Int
        switch move {
        case .first: target = 0
        case .last: target = others.count
        case .before(let anchor): target = try index(of: anchor, in: others)
        case .after(let anchor): target = try index(of: anchor, in: others) + 1
        }
        // `target` counts without the moved ticket, so if it equals `current`, the ticket stays where it is.
        guard target != current else {
            return TicketOrder.Outcome(rank: places[current].rank, position: target + 1, isChanged: false)
        }
        let lower = target > 0 ? others[target - 1].rank : nil
        let next = target < others.count ? others[target].rank : nil
        let upper = (former.filter { rank in lower.map { Self.precedes($0, rank) } ?? true } + [next].compactMap { $0 })
            .min(by: Self.precedes)
        guard let rank = try? FractionalRank.between(lower, upper), rank.utf8.count <= Self.maximumRankByteCount else {
            others.insert(places[current], at: target)
            let rank = try renumber(others)[target].rank
            return TicketOrder.Outcome(rank: rank, position: target + 1, isChanged: true)
        }
        former.append(places[current].rank)
        moved[ticket] = rank
        others.insert(Place(id: ticket, rank: rank), at: target)
        places = others
        return TicketOrder.Outcome(rank: rank, position: target + 1, isChanged: true)
    }

    /// Gives all tickets new ranks in this order. No existing rank is reused, so the ranks stay unique while they're
    /// written.
    /// - Returns: the tickets with their new ranks.
    private mutating func renumber(_ order: [Place]) throws -> [Place] {
        guard mayRenumber else { throw NeedsNewRanks() }
        guard order.count <= Self.renumberedLimit, let ranks = newRanks(count: order.count) else {
            throw RequestFailure(
                .conflict, "The ranks of the event's tickets leave no room at this place.",
                hint: "Give each of the event's tickets a short, unique rank.", properties: ["rank"])
        }
        former += places.map(\.rank)
        places = zip(order, ranks).map { Place(id: $0.id, rank: $1) }
        for place in places { moved[place.id] = place.rank }
        return places
    }

    /// Short ranks in order that no ticket has or had.
    private func newRanks(count: Int) -> [String]? {
        let taken = places.map(\.rank) + former
        let behind = try? FractionalRank.sequence(
            count: count, between: taken.max(by: Self.precedes), nil)
        if let behind, behind.allSatisfy({ $0.utf8.count <= Self.maximumRankByteCount }) { return behind }
        // After a long rank, or one in a foreign format, there are only longer ranks, or none. So take a new list
        // that is longer by the number of existing ranks, of which enough are unused.
        let known = Set(taken)
        let all = try? FractionalRank.sequence(count: count + taken.count, between: nil, nil)
        return all.map { Array($0.lazy.filter { !known.contains($0) }.prefix(count)) }
    }

    /// Compares ranks like the database.
    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private func index(of anchor: ObjectId, in others: [Place]) throws -> Int {
        guard let index = others.firstIndex(where: { $0.id == anchor }) else {
            throw RequestFailure(
                .unprocessable, "The ticket named in 'before' or 'after' isn't in this event.",
                hint: "Name another ticket of the same event.")
        }
        return index
    }
}
