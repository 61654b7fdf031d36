import AdminPanel
import ConferencePanel
import Foundation
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloModel

/// The event platform's additions to the panel.
@Suite struct SalesPagesTests {
    private struct Site: Sendable {
        let fixture: ServiceFixture
        let client: any TestClientProtocol

        var path: String { "/panel/sales/\(fixture.event)" }

        func browser(_ role: String) async throws -> PanelBrowser {
            try await PanelBrowser.loggedIn(client, as: role)
        }

        func order(_ quantity: Int64, of ticket: Int, state: String) async throws {
            try await fixture.rows().insert(
                "Order",
                [
                    "event": .objectId(fixture.event), "ticket": .objectId(fixture.tickets[ticket]),
                    "identifier": .string(UUID().uuidString), "quantity": .int(quantity), "amount": .int(0),
                    "currency": "EUR", "state": .string(state),
                ])
        }
    }

    private static func run(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture, additions: ConferencePanel.additions) { _, client in
                let site = Site(fixture: fixture, client: client)
                for (quantity, ticket, state) in [
                    (2, 0, "completed"), (3, 0, "placed"), (50, 0, "cancelled"), (4, 1, "pending"),
                ] as [(Int64, Int, String)] {
                    try await site.order(quantity, of: ticket, state: state)
                }
                try await body(site)
            }
        }
    }

    @Test("users who may change an event's orders see how many tickets are sold, by type")
    func sales() async throws {
        try await Self.run { site in
            try await site.fixture.pool.query(
                "UPDATE ticket SET quantity = 100 WHERE _id = $1", [.bytea(site.fixture.tickets[0].bytes)])
            for role in ["owner", "organizer", "registrar", "superAdmin"] {
                let browser = try await site.browser(role)
                let list = try await browser.get("/panel/sales").text
                #expect(list.contains(#"<a href="\#(site.path)">Island Days</a>"#), "\(role): \(list)")
                #expect(list.contains("Secret Days") == (role == "superAdmin"), "\(role): \(list)")
                let page = try await browser.get(site.path).text
                let early =
                    #"<th scope="row">Early</th><td data-label="Sold" class="number">5</td>"#
                    + #"<td data-label="Of" class="number">100</td>"#
                #expect(page.contains(early), "\(role): \(page)")
                #expect(page.contains(#"<progress value="5" max="100" aria-label="Early: 5 of 100 sold">"#))
                #expect(page.contains(#"<th scope="row">Regular</th><td data-label="Sold" class="number">4</td>"#))
                #expect(page.contains(#"<th scope="row">Student</th><td data-label="Sold" class="number">0</td>"#))
            }
        }
    }

    @Test("orders with huge numbers of tickets don't hide the event's other sales")
    func enormousOrders() async throws {
        try await Self.run { site in
            for _ in 0..<2 {
                try await site.order(.max, of: 1, state: "completed")
                try await site.order(.min, of: 2, state: "completed")
            }
            let page = try await site.browser("owner").get(site.path)
            #expect(page.status == 200)
            for (name, sold) in [("Early", 5), ("Regular", .max), ("Staff", .min)] as [(String, Int64)] {
                let cells = #"<th scope="row">\#(name)</th><td data-label="Sold" class="number">\#(sold)</td>"#
                #expect(page.text.contains(cells), "\(page.text)")
            }
        }
    }

    @Test("the sales list contains the user's own event even if many other published events begin later")
    func behindOthers() async throws {
        try await Self.run { site in
            try await site.fixture.pool.query(
                """
                INSERT INTO event (_id, name, starts_at, ends_at, state, privacy)
                SELECT substring(sha256(convert_to('event ' || n, 'UTF8')) FOR 12), 'Event ' || n, '2100-01-01',
                    '2100-01-02', 'published', 'public' FROM generate_series(1, 200) AS n
                """)
            let list = try await site.browser("registrar").get("/panel/sales").text
            #expect(list.contains(#"<a href="\#(site.path)">Island Days</a>"#), "\(list)")
            #expect(!list.contains("Event 200"), "\(list)")
        }
    }

    @Test("nobody else sees an event's sales, neither in the navigation nor at their address")
    func others() async throws {
        try await Self.run { site in
            for role in ["attendee", "admin"] {
                let browser = try await site.browser(role)
                #expect(try await browser.get("/panel/sales").status == 403, "\(role)")
                #expect(try await browser.get(site.path).status == 403, "\(role)")
                #expect(!(try await browser.get("/panel").text.contains("/panel/sales")), "\(role)")
            }
            let stranger = try await site.browser("stranger")
            let list = try await stranger.get("/panel/sales").text
            #expect(list.contains("Secret Days") && !list.contains("Island Days"), "\(list)")
            #expect(try await stranger.get(site.path).status == 403)
        }
    }

    @Test("users who may change a ticket type can end its sale; others have no button, and are refused")
    func ending() async throws {
        try await Self.run { site in
            let path = "/panel/sales/tickets/\(site.fixture.tickets[0])/end"
            let registrar = try await site.browser("registrar")
            #expect(!(try await registrar.get(site.path).text.contains("End the sale")))
            #expect(try await registrar.post(path).status == 403)
            func end() async throws -> Bool {
                try await !site.fixture.pool.query(
                    "SELECT sales_ends_at FROM ticket WHERE _id = $1", [.bytea(site.fixture.tickets[0].bytes)])[0, 0]
                    .isNull
            }
            #expect(try await end() == false)
            let owner = try await site.browser("owner")
            #expect(try await owner.get(site.path).text.contains(#"<form method="post" action="\#(path)">"#))
            let done = try await owner.post(path)
            #expect(done.status == 303 && done.headers[.location] == site.path, "\(done.text)")
            #expect(try await end() == true)
            #expect(try await owner.get(site.path).text.contains("The sale of &#39;Early&#39; has ended."))
            #expect(try await owner.post("/panel/sales/tickets/\(site.fixture.draftTicket)/end").status == 404)
        }
    }

    @Test("a track's colour is shown as a patch beside its text, if it is a colour")
    func colors() async throws {
        try await Self.run { site in
            let owner = try await site.browser("owner")
            for (color, isColor) in [("#1F77B4", true), ("url(#x)", false), ("\"><script>", false)] {
                let id = try await site.fixture.rows().insert(
                    "Track",
                    [
                        "event": .objectId(site.fixture.event), "name": .string("Track \(color.count)"),
                        "color": .string(color),
                    ])
                let page = try await owner.get("/panel/data/tracks/\(id)").text
                #expect(page.contains(#"<rect width="16" height="16" fill="\#(color)"/>"#) == isColor, "\(page)")
                let form = try await owner.get("/panel/data/tracks/\(id)/edit").text
                #expect(form.contains(#"list="l-f-color""#) && form.contains(#"<label for="f-color">"#), "\(form)")
                #expect(form.contains("fill=") == isColor && !form.contains("<script>"), "\(form)")
            }
            let list = try await owner.get("/panel/data/tracks?columns=name,color").text
            #expect(list.contains(##"fill="#1F77B4"/></svg> <code>#1F77B4</code></td>"##), "\(list)")
            #expect(list.ranges(of: "<rect").count == 1)
        }
    }
}
