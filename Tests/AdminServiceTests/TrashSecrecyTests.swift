import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TicketService
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules

/// Walks every route of the ticket server, so new routes are tested without being named here. For the admin server and its panel,
/// the panel's `TrashCrawlTests` do this class by class.
@Suite("The ticket server reveals nothing in the trash")
struct TrashSecrecyTests {
    private static let secret = "Zebra"
    private static let parameters = [
        "", "?get_trashed=true", "?trashed=1", "?include=trash", "?deleted_at=null", "?class=Session", "?page=1",
        "?filter=trashed_at", "?title=Zebra", "?search=Zebra", "?sort=trashed_at",
    ]

    @Test(
        "no route, with any parameter, shows an id, title or unique value from the trash",
        arguments: [
            nil, "attendee", "stranger", "registrar", "moderator", "trackOrganizer", "coorganizer", "organizer",
            "owner", "admin", "superAdmin",
        ])
    func routes(role: String?) async throws {
        try await ServiceFixture.with { fixture in
            let rows = fixture.rows()
            if let role, fixture.users[role] == nil {
                let added = try await fixture.authenticator.register(
                    email: ServiceFixture.email(role), password: ServiceFixture.password, displayName: role)
                try await rows.insert(
                    "RoleAssignment",
                    ["user": .objectId(added), "role": .string(role), "event": .objectId(fixture.event)])
            }
            var ids: [ObjectId] = []
            let event: [String: Value] = ["event": .objectId(fixture.event)]
            for (name, values) in [
                ("Session", ["title": .string(Self.secret), "state": "accepted", "track": .null]),
                ("Ticket", ["name": .string(Self.secret), "rank": "Zebra", "kind": "free", "currency": "EUR"]),
                ("Speaker", ["name": .string(Self.secret)]), ("Track", ["name": .string(Self.secret)]),
                ("Sponsor", ["name": .string(Self.secret)]), ("Microlocation", ["name": .string(Self.secret)]),
            ] as [(String, [String: Value])] {
                ids.append(try await rows.insert(name, event.merging(values) { $1 }))
                try await fixture.pool.query(
                    "SELECT tombolo.trash($1, $2, 'ada', NULL, 'Zebra, as I said')",
                    [.text(name), .text(ids[ids.count - 1].stringValue)])
            }
            let user = try await rows.insert(
                "User", ["email": "zebra@example.org", "displayName": .string(Self.secret)])
            ids.append(user)
            // A trashed speaker stays in the lists of sessions.
            try await rows.insert(
                "Session.speakers",
                ["owner": .objectId(fixture.sessions[0]), "rank": "z", "target": .objectId(ids[2])])
            try await fixture.pool.query("SELECT tombolo.trash('User', $1, 'ada', NULL)", [.text(user.stringValue)])

            let trashed = ids
            let words = [Self.secret, "zebra@"] + trashed.map(\.stringValue)
            let app = try buildTicketApplication(
                host: "127.0.0.1", port: 0, pool: fixture.ticketServer.pool, rules: LiveRules(fixture.rules),
                authenticator: fixture.ticketServer.authenticator)
            try await app.test(.router) { client in
                let call = Caller(client, fixture)
                for route in app.routes {
                    let method = try #require(HTTPRequest.Method(route.method))
                    let addresses =
                        route.path.contains("{id}")
                        ? trashed.map { Caller.address(route, id: $0.stringValue) }
                            + (method == .get ? [Caller.address(route, id: fixture.event.stringValue)] : [])
                        : [route.path]
                    for address in addresses {
                        for parameters in method == .get ? Self.parameters : [""] {
                            let answer = try await call(
                                method, address + parameters, as: role, body: method == .post ? "{}" : nil)
                            for word in words where answer.text.contains(word) {
                                Issue.record("\(method) \(address)\(parameters) shows \(word)")
                            }
                        }
                    }
                }
            }
            let left = try await fixture.pool.query("SELECT 1 FROM session WHERE trashed_at IS NOT NULL")
            #expect(left.count == 1)
        }
    }

    @Test("an address that belongs to somebody in the trash is as free as any other")
    func uniqueValues() async throws {
        try await ServiceFixture.with { fixture in
            let user = try #require(fixture.users["attendee"])
            try await fixture.pool.query("SELECT tombolo.trash('User', $1, 'ada', NULL)", [.text(user.stringValue)])
            let again = try await fixture.authenticator.register(
                email: ServiceFixture.email("attendee"), password: ServiceFixture.password, displayName: "Another")
            #expect(again != user)
        }
    }
}
