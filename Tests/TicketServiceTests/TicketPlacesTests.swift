import RandomValues
import Testing
import TomboloModel

@testable import TicketService

@Suite("Places of tickets") struct TicketPlacesTests {
    @Test("successive moves give the order of a plain list, and no rank is given out twice, not even a former one")
    func manyMoves() throws {
        var random = RandomValues(.printed(for: "TicketPlacesTests.manyMoves"))
        let ids = (0..<12).map { ObjectId(high: 0, low: UInt32($0)) }
        let ranks = try FractionalRank.sequence(count: ids.count, between: nil, nil)
        for _ in 0..<200 {
            var places = TicketPlaces(places: zip(ids, ranks).map { .init(id: $0, rank: $1) })
            var model = ids
            var given = Set(ranks)
            for _ in 0..<random.int(1...40) {
                let ticket = random.pick(ids)
                let other = random.pick(ids)
                guard ticket != other else { continue }
                let before = model
                model.removeAll { $0 == ticket }
                let anchor = try #require(model.firstIndex(of: other))
                let place: TicketMove
                switch random.int(0...3) {
                case 0:
                    place = .before(other)
                    model.insert(ticket, at: anchor)
                case 1:
                    place = .after(other)
                    model.insert(ticket, at: anchor + 1)
                case 2:
                    place = .first
                    model.insert(ticket, at: 0)
                default:
                    place = .last
                    model.append(ticket)
                }
                let found = try places.move(ticket, to: place)
                let outcome = try #require(found)
                #expect(outcome.isChanged == (model != before))
                #expect(outcome.position - 1 == model.firstIndex(of: ticket))
                if outcome.isChanged {
                    // The statement that writes all ranks may reach this ticket before the one that had the rank.
                    #expect(given.insert(outcome.rank).inserted, "\(outcome.rank) was taken")
                    #expect(places.moved[ticket] == outcome.rank)
                }
                #expect(places.places.map(\.id) == model)
                let now = places.places.map(\.rank)
                #expect(zip(now, now.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) })
            }
        }
    }

    @Test("a missing ticket isn't moved, and no ticket can be moved next to it")
    func strangers() throws {
        let (known, stranger) = (ObjectId(high: 0, low: 1), ObjectId(high: 0, low: 2))
        var places = TicketPlaces(places: [.init(id: known, rank: "a0")])
        let none = try places.move(stranger, to: .first)
        #expect(none == nil)
        #expect(throws: (any Error).self) { try places.move(known, to: .before(stranger)) }
        let same = try places.move(known, to: .last)
        #expect(same?.isChanged == false)
        #expect(places.moved.isEmpty)
    }

    @Test(
        "if ranks would get too long, or are equal, all tickets get new ranks in the same order",
        arguments: [true, false])
    func newRanks(areEqual: Bool) throws {
        let ids = (0..<4).map { ObjectId(high: 0, low: UInt32($0)) }
        let long = "a0" + String(repeating: "0", count: TicketPlaces.maximumRankByteCount)
        let ranks = areEqual ? ["a0", "a1", "a1", "a2"] : ["\(long)1", "\(long)2", "a1", "a2"]
        let read = zip(ids, ranks).map { TicketPlaces.Place(id: $0, rank: $1) }
        var places = TicketPlaces(places: read)
        let outcome = try #require(try places.move(ids[3], to: .after(areEqual ? ids[1] : ids[0])))
        let expected = areEqual ? [0, 1, 3, 2] : [0, 3, 1, 2]
        #expect(places.places.map(\.id) == expected.map { ids[$0] })
        #expect(outcome.isChanged && outcome.position == (areEqual ? 3 : 2))
        #expect(places.moved.count == 4 && places.moved[ids[3]] == outcome.rank)
        let now = places.places.map(\.rank)
        #expect(zip(now, now.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) }, "\(now)")
        #expect(now.allSatisfy { $0.utf8.count <= TicketPlaces.maximumRankByteCount && !ranks.contains($0) }, "\(now)")
        var shared = TicketPlaces(places: read, mayRenumber: false)
        #expect(throws: TicketPlaces.NeedsNewRanks.self) {
            _ = try shared.move(ids[3], to: .after(areEqual ? ids[1] : ids[0]))
        }
    }

    @Test(
        "a rank made elsewhere keeps no ticket from its place, however long it is and whatever it consists of",
        arguments: [
            String(repeating: "z", count: 1_000), String(repeating: "0", count: 1_000) + "1",
            "a0" + String(repeating: "V", count: 1_000), "zz", "!", "é",
        ])
    func strangeRanks(rank: String) throws {
        let ids = (0..<12).map { ObjectId(high: 0, low: UInt32($0)) }
        // New ranks mustn't equal any of these.
        let ranks = (try FractionalRank.sequence(count: ids.count - 1, between: nil, nil) + [rank])
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let read = zip(ids, ranks).map { TicketPlaces.Place(id: $0, rank: $1) }
        for ticket in ids {
            for other in ids where other != ticket {
                for place in [TicketMove.before(other), .after(other), .first, .last] {
                    var places = TicketPlaces(places: read)
                    let found = try places.move(ticket, to: place)
                    let outcome = try #require(found)
                    #expect(places.places[outcome.position - 1].id == ticket)
                    let (now, written) = (places.places.map(\.rank), Array(places.moved.values))
                    #expect(zip(now, now.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) })
                    #expect(written.allSatisfy { $0.utf8.count <= TicketPlaces.maximumRankByteCount })
                    #expect(Set(written).isDisjoint(with: ranks) && Set(written).count == written.count)
                }
            }
        }
    }
}
