import TomboloHTTP
import TomboloModel

/// An event's tickets in order, and where one of them goes. Pure: what was read comes in, what to write comes out.
struct TicketPlaces {
    struct Place: Hashable {
        let id: ObjectId
        let rank: String
    }

    /// By rank.
    let places: [Place]

    /// - Returns: nil if the ticket isn't among them.
    /// - Throws: ``RequestFailure``: 422 when the ticket that says where to isn't among them, 409 when the ranks leave no
    ///   room there.
    func outcome(moving ticket: ObjectId, to move: TicketMove) throws -> TicketOrder.Outcome? {
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
        // The place that it leaves has its number among the others.
        guard target != current else {
            return TicketOrder.Outcome(rank: places[current].rank, position: target + 1, isChanged: false)
        }
        let lower = target > 0 ? others[target - 1].rank : nil
        let upper = target < others.count ? others[target].rank : nil
        do throws(ValueError) {
            let rank = try FractionalRank.between(lower, upper)
            return TicketOrder.Outcome(rank: rank, position: target + 1, isChanged: true)
        } catch {
            throw RequestFailure(
                .conflict, "The ranks of the event's tickets leave no room there.",
                hint: "Give each ticket of the event a rank of its own.", properties: ["rank"], cause: error)
        }
    }

    private func index(of anchor: ObjectId, in others: [Place]) throws -> Int {
        guard let index = others.firstIndex(where: { $0.id == anchor }) else {
            throw RequestFailure(
                .unprocessable, "The event has no ticket with the id that says where to move.",
                hint: "Name another ticket of the same event.")
        }
        return index
    }
}
