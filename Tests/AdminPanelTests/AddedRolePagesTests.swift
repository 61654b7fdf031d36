import HummingbirdTesting
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloServerModel

/// A role added in the panel opens the pages of its boxes there, and no others.
@Suite struct AddedRolePagesTests {
    /// The routes that a browser may use, by method, path and class.
    static func open(
        _ routes: [RouteDescription], _ fixture: ServiceFixture, _ browser: PanelBrowser
    ) async throws -> Set<String> {
        let call = try await PanelRouteCall(browser)
        var open: Set<String> = []
        for route in routes {
            for collection in route.path.contains("{collection}") ? PanelRouteCall.collections(fixture) : [""]
            where try await !call(route, collection).isRefusal {
                open.insert("\(route.method) \(route.path) \(collection)")
            }
        }
        return open
    }

    /// The routes that the role's boxes open for somebody who otherwise sees published objects and their own orders.
    private static func opened(_ routes: [RouteDescription]) -> Set<String> {
        Set(
            routes.filter { $0.path.contains("{collection}") }.flatMap { route -> [String] in
                let collection: String? =
                    switch route.access {
                    case "read objects of a class": "speaker_contacts"
                    case "update objects of a class", "create or update objects of a class",
                        "change or restore objects of a class":
                        "orders"
                    default: nil
                    }
                return collection.map { ["\(route.method) \(route.path) \($0)"] } ?? []
            })
    }

    @Test("boxes for orders and addresses open the panel's pages for the event in which the role was given")
    func sales() async throws {
        try await ServiceFixture.with { fixture in
            let rules = fixture.adminModels.liveRules()
            try await PanelBrowser.with(fixture, rules: rules) { app, client in
                let routes = app.routes.filter(PanelRouteCall.isAsked)
                let rows = fixture.rows()
                var orders: [ObjectId] = []
                for (event, identifier) in [(fixture.event, "SALE-1"), (fixture.draft, "SALE-2")] {
                    orders.append(
                        try await rows.insert(
                            "Order",
                            [
                                "event": .objectId(event), "identifier": .string(identifier), "state": "placed",
                                "currency": "EUR",
                            ]))
                }
                let visitor = try await PanelBrowser.loggedIn(client, as: "attendee")
                let before = try await Self.open(routes, fixture, visitor)

                let superAdmin = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let added = try await superAdmin.post(
                    "/panel/permissions/roles/new?app=conference",
                    [
                        "name": "sales", "reach": "within", "update.orders": "1", "read.speakerContacts": "1",
                        "version": "\(try #require(fixture.adminModels.current.ruleVersions["conference"]))",
                    ])
                #expect(added.status == 303, "\(added.text)")
                let attendee = try #require(fixture.users["attendee"])
                try await rows.insert(
                    "RoleAssignment",
                    ["user": .objectId(attendee), "role": "sales", "event": .objectId(fixture.event)])
                fixture.forgetRoles()

                let seller = try await PanelBrowser.loggedIn(client, as: "attendee")
                let after = try await Self.open(routes, fixture, seller)
                let expected = Self.opened(routes)
                #expect(expected.count >= 12)
                #expect(after.subtracting(before) == expected.subtracting(before))
                #expect(expected.isDisjoint(with: before) && before.isSubset(of: after))

                let overview = try await seller.get("/panel").text
                #expect(overview.contains("/panel/data/speaker_contacts") && overview.contains("/panel/data/orders"))
                for page in ["/panel/trash", "/panel/permissions", "/panel/audit", "/panel/settings"] {
                    #expect(!overview.contains("href=\"\(page)\""), "\(page)")
                }
                let list = try await seller.get("/panel/data/orders").text
                #expect(list.contains("SALE-1") && !list.contains("SALE-2"))
                #expect(try await seller.get("/panel/data/orders/\(orders[0])/edit").status == 200)
                #expect(try await seller.get("/panel/data/orders/\(orders[0])/delete").status == 403)
                #expect(try await seller.get("/panel/data/orders/\(orders[1])/edit").status == 404)
            }
        }
    }
}
