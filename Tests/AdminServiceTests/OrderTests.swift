import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite("Orders over HTTP")
struct OrderTests {
    private static let media = "application/vnd.api+json"

    /// One order of the attendee, one of the stranger, and one without a buyer, all in the published event.
    private struct Orders: Sendable {
        let own: ObjectId
        let strangers: ObjectId
        let nobodys: ObjectId

        init(_ fixture: ServiceFixture) async throws {
            func insert(_ identifier: String, _ buyer: ObjectId?) async throws -> ObjectId {
                try await fixture.rows().insert(
                    "Order",
                    [
                        "event": .objectId(fixture.event), "ticket": .objectId(fixture.tickets[0]),
                        "buyer": buyer.map { .objectId($0) } ?? .null, "identifier": .string(identifier),
                        "state": "placed", "amount": .int(1_050),
                    ])
            }
            own = try await insert("A-1", fixture.users["attendee"])
            strangers = try await insert("A-2", fixture.users["stranger"])
            nobodys = try await insert("A-3", nil)
        }
    }

    private static func body(
        _ fixture: ServiceFixture, _ identifier: String, ticket: ObjectId, of buyer: String
    ) throws -> String {
        let user = try #require(fixture.users[buyer])
        return #"""
            {"data": {"type": "orders", "attributes": {"identifier": "\#(identifier)", "state": "placed", "currency": "EUR"},
            "relationships": {"event": {"data": {"type": "events", "id": "\#(fixture.event)"}},
            "ticket": {"data": {"type": "tickets", "id": "\#(ticket)"}},
            "buyer": {"data": {"type": "users", "id": "\#(user)"}}}}}
            """#
    }

    @Test(
        "the event's organizers and registrars can read all of its orders, buyers their own, and nobody else any",
        arguments: [
            ("superAdmin", ["A-1", "A-2", "A-3"]), ("owner", ["A-1", "A-2", "A-3"]),
            ("organizer", ["A-1", "A-2", "A-3"]), ("coorganizer", ["A-1", "A-2", "A-3"]),
            ("registrar", ["A-1", "A-2", "A-3"]), ("attendee", ["A-1"]), ("stranger", ["A-2"]), ("admin", []),
        ])
    func reading(role: String, identifiers: [String]) async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let orders = try await Orders(fixture)
            let list = try await call(.get, "/api/orders?sort=identifier&page[total]=true", as: role)
            #expect(list.status == 200, "\(list.text)")
            #expect(JSONAPIReadingTests.attributes(list, "identifier") == identifiers)
            #expect(list.json["meta"]?["page"]?["total"] == .int(Int64(identifiers.count)))
            for (identifier, id) in [("A-1", orders.own), ("A-2", orders.strangers), ("A-3", orders.nobodys)] {
                let answer = try await call(.get, "/api/orders/\(id)", as: role)
                #expect(answer.status == (identifiers.contains(identifier) ? 200 : 404), "\(identifier)")
            }
        }
    }

    @Test("visitors are asked to log in")
    func visitors() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let orders = try await Orders(fixture)
            for path in ["/api/orders", "/api/orders/\(orders.own)", "/export/orders"] {
                #expect(try await call(.get, path).status == 401, "\(path)")
            }
        }
    }

    @Test(
        "the box office creates and changes orders, only the event's owner removes them, and buyers can do none of this",
        arguments: [
            ("owner", 201, 200, 204), ("organizer", 201, 200, 403), ("registrar", 201, 200, 403),
            ("coorganizer", 403, 200, 403), ("attendee", 403, 403, 403), ("stranger", 403, 404, 404),
            ("admin", 403, 403, 404),
        ])
    func writing(role: String, created: Int, updated: Int, deleted: Int) async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let path = "/api/orders/\(try await Orders(fixture).own)"
            // Each role orders for itself, as a buyer would.
            let new = try Self.body(fixture, "A-9", ticket: fixture.tickets[0], of: role)
            let made = try await call(.post, "/api/orders", as: role, body: new, type: Self.media)
            #expect(made.status == created, "\(made.text)")
            let id = path.split(separator: "/").last ?? ""
            let change = #"{"data": {"type": "orders", "id": "\#(id)", "attributes": {"state": "completed"}}}"#
            let changed = try await call(.patch, path, as: role, body: change, type: Self.media)
            #expect(changed.status == updated, "\(changed.text)")
            let removed = try await call(.delete, path, as: role)
            #expect(removed.status == deleted, "\(removed.text)")
        }
    }

    @Test("an order's ticket must be of its event, and its identifier must be unique there")
    func ofTheEvent() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            func post(_ identifier: String, _ ticket: ObjectId, as role: String = "registrar") async throws -> Answer {
                try await call(
                    .post, "/api/orders", as: role,
                    body: Self.body(fixture, identifier, ticket: ticket, of: "attendee"), type: Self.media)
            }
            // As a user who may read the ticket: others aren't told that it exists.
            let foreign = try await post("A-1", fixture.draftTicket, as: "superAdmin")
            #expect(foreign.status == 422 && foreign.text.contains("belongs to another event."), "\(foreign.text)")
            #expect(try await post("A-1", fixture.tickets[0]).status == 201)
            let again = try await post("A-1", fixture.tickets[0])
            #expect(again.status == 409, "\(again.text)")
        }
    }

    @Test(
        "an event's orders go to the trash and back with it; trashing a ticket or the buyer's account leaves the orders"
    )
    func trash() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            _ = try await Orders(fixture)
            func live() async throws -> Int {
                try await fixture.pool.query("SELECT count(*)::int FROM orders WHERE trashed_at IS NULL")[0, 0].int
            }
            #expect(try await call(.delete, "/tickets/\(fixture.tickets[0])", as: "organizer").json["count"] == 1)
            let buyer = try #require(fixture.users["attendee"])
            #expect(try await call(.post, "/admin/users/\(buyer)/trash", as: "admin").json["count"] == 1)
            #expect(try await live() == 3)
            let moved = try await call(.delete, "/events/\(fixture.event)", as: "owner")
            #expect(moved.status == 200, "\(moved.text)")
            #expect(try await live() == 0)
            // Administrators restore them without seeing them.
            let list = try await call(.get, "/admin/trash", as: "admin")
            #expect(
                list.status == 200 && !list.text.contains("A-1") && !list.text.contains("\"Order\""), "\(list.text)")
            #expect(try await call(.get, "/admin/trash?class=Order", as: "admin").status == 403)
            let group = try #require(moved.json["group"]?.text)
            let restored = try await call(.post, "/admin/trash/\(group)/restore", as: "admin")
            #expect(restored.status == 200, "\(restored.text)")
            #expect(try await live() == 3)
        }
    }
}
