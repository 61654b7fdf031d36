import EventModels
import PostgresClient
import PostgresValues
import RandomValues
import ServiceTestSupport
import Testing
import TicketService
import TomboloHTTP
import TomboloModel

@Suite struct TicketOrderTests {
    private static let ticketCount = 20
    private static let moveCount = 500

    @Test("two servers that each make 500 moves at once leave a total order")
    func concurrentServers() async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("ticket moves: seed \(seed)")
        try await ServiceFixture.with { fixture in
            let tickets = try await Self.addTickets(fixture)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<2 {
                    // Each server has its own order, whose moves share transactions.
                    let order = try TicketOrder(schema: EventModels.schema, pool: fixture.ticketServer.pool)
                    group.addTask {
                        var generator = SeededGenerator(seed: seed &+ UInt64(writer))
                        for _ in 0..<Self.moveCount {
                            let ticket = tickets[Int.random(in: tickets.indices, using: &generator)]
                            var other = ticket
                            while other == ticket {
                                other = tickets[Int.random(in: tickets.indices, using: &generator)]
                            }
                            let place: TicketMove =
                                switch Int.random(in: 0..<4, using: &generator) {
                                case 0: .before(other)
                                case 1: .after(other)
                                case 2: .first
                                default: .last
                                }
                            _ = try await order.move(ticket, of: fixture.event, to: place)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let ranks = try await fixture.pool.query(
                "SELECT rank FROM ticket WHERE event = $1 ORDER BY rank", [.objectId(fixture.event)]
            ).map { try $0[0].string }
            #expect(ranks.count == tickets.count, "seed \(seed)")
            #expect(Set(ranks).count == ranks.count, "seed \(seed)")
            #expect(zip(ranks, ranks.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        }
    }

    @Test func successiveMovesGiveTheOrderOfAPlainList() async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("ticket model: seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let choices = (0..<200).map { _ in
            (
                Int.random(in: 0..<100, using: &generator), Int.random(in: 0..<100, using: &generator),
                Int.random(in: 0..<4, using: &generator)
            )
        }
        try await ServiceFixture.with { fixture in
            let order = try TicketOrder(schema: EventModels.schema, pool: fixture.ticketServer.pool)
            var model = fixture.tickets
            for (a, b, kind) in choices {
                let ticket = model[a % model.count]
                let other = model[b % model.count]
                guard ticket != other else { continue }
                model.removeAll { $0 == ticket }
                let place: TicketMove
                switch kind {
                case 0:
                    place = .before(other)
                    model.insert(ticket, at: model.firstIndex(of: other) ?? 0)
                case 1:
                    place = .after(other)
                    model.insert(ticket, at: (model.firstIndex(of: other) ?? 0) + 1)
                case 2:
                    place = .first
                    model.insert(ticket, at: 0)
                default:
                    place = .last
                    model.append(ticket)
                }
                let outcome = try await order.move(ticket, of: fixture.event, to: place)
                #expect(outcome.position == (model.firstIndex(of: ticket) ?? -1) + 1, "seed \(seed)")
            }
            let stored = try await fixture.pool.query(
                "SELECT _id FROM ticket WHERE event = $1 ORDER BY rank", [.objectId(fixture.event)]
            ).map { try $0[0].objectId }
            #expect(stored == model, "seed \(seed)")
        }
    }

    @Test func aMoveRetriesIfAWriterWithoutTheLockTakesItsRank() async throws {
        try await ServiceFixture.with { fixture in
            let order = try TicketOrder(schema: EventModels.schema, pool: fixture.ticketServer.pool)
            let t = fixture.tickets
            // Holds the rank that the move will choose, a5, without the event's lock, then commits.
            let intruder = try await PostgresConnection.connect(fixture.pool.configuration)
            try await intruder.execute("BEGIN")
            try await intruder.query("UPDATE ticket SET rank = 'a5' WHERE _id = $1", [.objectId(t[1])])
            async let outcome = order.move(t[0], of: fixture.event, to: .last)
            // The move waits for the intruder at the unique index.
            while try await fixture.pool.query(
                "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            ).isEmpty { await Task.yield() }
            try await intruder.execute("COMMIT")
            #expect(try await outcome.rank == "a6")
            #expect(try await outcome.position == 5)
            await intruder.close()
        }
    }

    @Test("moves of many events at once share transactions, and each event has its own order")
    func moveTogether() async throws {
        try await ServiceFixture.with { fixture in
            let order = try TicketOrder(schema: EventModels.schema, pool: fixture.ticketServer.pool)
            var events: [(event: ObjectId, tickets: [ObjectId])] = []
            for number in 0..<10 {
                let event = try await fixture.rows().insert(
                    "Event",
                    ["name": .string("E\(number)"), "identifier": .string("e\(number)"), "timezone": "Europe/Berlin"])
                var tickets: [ObjectId] = []
                for rank in ["a0", "a1", "a2"] {
                    tickets.append(
                        try await fixture.rows().insert(
                            "Ticket",
                            [
                                "event": .objectId(event), "name": "T", "rank": .string(rank), "kind": "free",
                                "currency": "EUR",
                            ]))
                }
                events.append((event, tickets))
            }
            var isShared = false
            // On a busy machine the moves may arrive one by one.
            for _ in 0..<50 where !isShared {
                let before = try await Self.transactionCount(fixture)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (event, tickets) in events {
                        for ticket in tickets {
                            group.addTask { _ = try await order.move(ticket, of: event, to: .last) }
                        }
                        // Impossible moves don't affect the others.
                        group.addTask {
                            await #expect(throws: RequestFailure.self) {
                                try await order.move(tickets[0], of: event, to: .before(fixture.draftTicket))
                            }
                            await #expect(throws: RequestFailure.self) {
                                try await order.move(fixture.draftTicket, of: event, to: .first)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let changes = try await Self.transactionCount(fixture)
                #expect((10...30).contains(changes.rows - before.rows))
                #expect(changes.transactions - before.transactions <= changes.rows - before.rows)
                isShared = changes.transactions - before.transactions < changes.rows - before.rows
            }
            #expect(isShared)
            for (event, tickets) in events {
                let stored = try await fixture.pool.query(
                    "SELECT _id FROM ticket WHERE event = $1 ORDER BY rank", [.objectId(event)]
                ).map { try $0[0].objectId }
                #expect(Set(stored) == Set(tickets))
            }
        }
    }

    @Test("moves in an event whose ranks are too long are made, and don't hold up others")
    func longRanks() async throws {
        try await ServiceFixture.with { fixture in
            let order = try TicketOrder(schema: EventModels.schema, pool: fixture.ticketServer.pool)
            let other = try await fixture.rows().insert(
                "Event", ["name": "Other", "identifier": "other", "timezone": "Europe/Berlin"])
            // As long as the index allows, and hard to compress.
            var random = RandomValues(.printed(for: "TicketOrderTests.longRanks"))
            let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz123456789")
            let long = "a0" + String((0..<2_600).map { _ in random.pick(letters) })
            var tickets: [ObjectId] = []
            for rank in [long + "1", long + "2", "b00"] {
                tickets.append(
                    try await fixture.rows().insert(
                        "Ticket",
                        [
                            "event": .objectId(other), "name": "T", "rank": .string(rank), "kind": "free",
                            "currency": "EUR",
                        ]))
            }
            let (first, last) = (tickets[0], tickets[2])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<5 { _ = try await order.move(last, of: other, to: .after(first)) }
                    }
                }
                for ticket in fixture.tickets {
                    group.addTask {
                        for _ in 0..<10 { _ = try await order.move(ticket, of: fixture.event, to: .last) }
                    }
                }
                try await group.waitForAll()
            }
            let stored = try await fixture.pool.query(
                "SELECT _id, length(rank) FROM ticket WHERE event = $1 ORDER BY rank", [.objectId(other)])
            #expect(try stored.map { try $0[0].objectId } == [first, last, tickets[1]])
            #expect(try stored.allSatisfy { try $0[1].int <= 200 })
        }
    }

    /// The number of rank changes in the changelog, and of the transactions that made them.
    private static func transactionCount(_ fixture: ServiceFixture) async throws -> (rows: Int64, transactions: Int64) {
        let found = try await fixture.pool.query(
            """
            SELECT count(*), count(DISTINCT l.xid) FROM tombolo.changelog l
            JOIN tombolo.class c ON c.id = l.class AND c.name = 'Ticket' WHERE l.operation = 'u'
            """)[0]
        return (try found[0].int64, try found[1].int64)
    }

    @Test("an event that is locked elsewhere makes only its own moves wait")
    func lockedEvent() async throws {
        try await ServiceFixture.with { fixture in
            let order = try TicketOrder(schema: EventModels.schema, pool: fixture.ticketServer.pool)
            let other = try await fixture.rows().insert(
                "Event", ["name": "Other", "identifier": "other", "timezone": "Europe/Berlin"])
            var tickets: [ObjectId] = []
            for rank in ["a0", "a1"] {
                tickets.append(
                    try await fixture.rows().insert(
                        "Ticket",
                        [
                            "event": .objectId(other), "name": "T", "rank": .string(rank), "kind": "free",
                            "currency": "EUR",
                        ]))
            }
            let intruder = try await PostgresConnection.connect(fixture.pool.configuration)
            try await intruder.execute("BEGIN")
            try await intruder.query("SELECT 1 FROM ticket WHERE event = $1 FOR UPDATE", [.objectId(fixture.event)])
            async let waiting = order.move(fixture.tickets[0], of: fixture.event, to: .last)
            for number in 0..<20 {
                _ = try await order.move(tickets[number % 2], of: other, to: .last)
            }
            try await intruder.execute("COMMIT")
            #expect(try await waiting.position == 5)
            await intruder.close()
        }
    }

    private static func addTickets(_ fixture: ServiceFixture) async throws -> [ObjectId] {
        var tickets = fixture.tickets
        for rank in try FractionalRank.sequence(count: ticketCount - tickets.count, between: "a4", nil) {
            tickets.append(
                try await fixture.rows().insert(
                    "Ticket",
                    [
                        "event": .objectId(fixture.event), "name": "T", "rank": .string(rank), "kind": "free",
                        "currency": "EUR",
                    ]))
        }
        return tickets
    }
}
