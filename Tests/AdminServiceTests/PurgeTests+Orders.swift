import AdminService
import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

extension PurgeTests {
    @Test(
        "an active order keeps its buyer until the event is over, with the reason; other orders don't",
        arguments: [
            ("pending", true), ("placed", true), ("completed", true), ("initializing", false), ("cancelled", false),
            ("expired", false),
        ])
    func keptBuyers(state: String, isKept: Bool) async throws {
        try await Self.run { site in
            let buyer = try #require(site.fixture.users["attendee"])
            try await site.order(state)
            let time = try await site.trash("User", buyer)
            try await site.fixture.rows().set("Event", site.fixture.event, "endsAt", .date(time + 40 * Self.day))
            let report = try await site.run(time + 31 * Self.day)
            #expect(report.objects == (isKept ? 0 : 1) && report.kept == (isKept ? 1 : 0) && report.failed == 0)
            let kept = try await site.history()["kept"]?.list ?? []
            #expect(kept.map { $0["_id"]?.text } == (isKept ? [buyer.stringValue] : []))
            let reason = #"has an order for the event "Island Days", which ends at "#
            #expect(kept.allSatisfy { $0["reason"]?.text?.hasPrefix(reason) == true }, "\(kept)")
            #expect(try await site.run(time + 41 * Self.day).objects == (isKept ? 1 : 0))
        }
    }

    @Test("what the app keeps can't be deleted forever by hand or by emptying the trash, and both say why")
    func keptByHand() async throws {
        try await Self.run { site in
            let buyer = try #require(site.fixture.users["attendee"])
            let order = try await site.order("completed")
            let time = try await site.trash("User", buyer)
            try await site.fixture.rows().set("Event", site.fixture.event, "endsAt", .date(time + 40 * Self.day))
            try await site.trash("Session", site.fixture.sessions[0])
            let refused = try await site.call(.delete, "/admin/trash/\(buyer)", as: "superAdmin")
            #expect(refused.status == 409, "\(refused.text)")
            let reason = "User \(buyer) can't be deleted permanently: has an order for the event \"Island Days\""
            #expect(refused.json["message"]?.text?.hasPrefix(reason) == true, "\(refused.text)")
            let emptied = try await site.call(.post, "/admin/trash/empty", as: "superAdmin")
            #expect(emptied.status == 200 && emptied.json["count"]?.number == 1, "\(emptied.text)")
            let kept = emptied.json["kept"]?.list ?? []
            #expect(kept.count == 1 && kept[0]["reason"]?.text?.hasPrefix(reason) == true, "\(emptied.text)")
            #expect(try await site.count("session WHERE trashed_at IS NOT NULL") == 0)
            #expect(try await site.count("users WHERE trashed_at IS NOT NULL") == 1)

            try await site.fixture.rows().set("Order", order, "state", "cancelled")
            let gone = try await site.call(.delete, "/admin/trash/\(buyer)", as: "superAdmin")
            #expect(gone.status == 200, "\(gone.text)")
            #expect(try await site.count("users WHERE trashed_at IS NOT NULL") == 0)
        }
    }

    @Test("an order that is in the trash, or whose event is, keeps nobody")
    func ordersInTheTrash() async throws {
        for className in ["Order", "Event"] {
            try await Self.run { site in
                let order = try await site.order("completed")
                let time = try await site.trash("User", try #require(site.fixture.users["attendee"]))
                try await site.fixture.rows().set("Event", site.fixture.event, "endsAt", .date(time + 90 * Self.day))
                try await site.fixture.pool.execute(
                    "INSERT INTO tombolo.trash_retention VALUES ('Order', NULL), ('Event', NULL)")
                try await site.trash(className, className == "Order" ? order : site.fixture.event)
                let report = try await site.run(time + 31 * Self.day)
                #expect(report.objects == 1 && report.kept == 0, "\(className)")
            }
        }
    }

    @Test("an order outlives its buyer's account, which is deleted once the event is over")
    func ordersOfDeletedUsers() async throws {
        try await Self.run { site in
            let order = try await site.order("completed")
            let time = try await site.trash("User", try #require(site.fixture.users["attendee"]))
            #expect(try await site.count("orders WHERE trashed_at IS NULL AND buyer IS NOT NULL") == 1)
            try await site.fixture.rows().set("Event", site.fixture.event, "endsAt", .date(time + Self.day))
            let report = try await site.run(time + 31 * Self.day)
            #expect(report.objects == 1 && report.kept == 0 && report.failed == 0)
            let left = try await site.fixture.pool.query(
                "SELECT buyer IS NULL AND trashed_at IS NULL, amount FROM orders WHERE _id = $1", [.objectId(order)])
            #expect(try left.count == 1 && left[0, 0].bool && left[0, 1].int == 2_100)
        }
    }
}

extension PurgeTests.Site {
    /// Adds an order by the attendee for a ticket of the published event.
    @discardableResult
    func order(_ state: String) async throws -> ObjectId {
        try await fixture.rows().insert(
            "Order",
            [
                "event": .objectId(fixture.event), "ticket": .objectId(fixture.tickets[1]),
                "buyer": fixture.users["attendee"].map { .objectId($0) } ?? .null, "identifier": "A-1",
                "state": .string(state), "quantity": .int(2), "amount": .int(2_100),
            ])
    }
}
