import AdminService
import HTTPTypes
import HummingbirdTesting
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

@testable import AdminPanel

/// Places on record pages and in forms, with and without a tile server.
@Suite struct PlacePagesTests {
    private struct Site: Sendable {
        let fixture: HarbourFixture
        let client: any TestClientProtocol

        func browser(_ user: String = "ada") async throws -> PanelBrowser {
            try await PanelBrowser.loggedIn(client, as: user)
        }

        /// - Returns: the path of a pier's page.
        func pier(_ attributes: [String: JSON]) async throws -> String {
            let made = try await fixture.call(
                client, .post, "/api/piers",
                ["data": ["type": "piers", "attributes": .object(attributes.merging(["name": "Pier"]) { $1 })]])
            let id: String? = if case .string(let text)? = made.json["data"]?["id"] { text } else { nil }
            let found = try #require(id, "\(made.text)")
            return "/panel/data/piers/\(found)"
        }
    }

    private static let template = "https://tile.example.org/{z}/{x}/{y}.png"
    private static let berlin: [String: JSON] = ["latitude": .double(52.52), "longitude": .double(13.405)]

    private static let models = """
        {"format": 1, "app": "harbour", "classes": [
        {"name": "Pier", "trashable": true, "properties": [{"name": "_id", "type": "objectId", "primaryKey": true},
        {"name": "name", "type": "string"}, {"name": "latitude", "type": "double?", "place": "latitude"},
        {"name": "longitude", "type": "double?", "place": "longitude"},
        {"name": "entrance", "type": "embedded<Entrance>?"}, {"name": "spot", "type": "embedded<Spot>?"}]},
        {"name": "Entrance", "embedded": true, "properties": [{"name": "east", "type": "double", "place": "longitude"},
        {"name": "north", "type": "double", "place": "latitude"}]},
        {"name": "Spot", "embedded": true, "properties": [{"name": "type", "type": "string"},
        {"name": "coordinates", "type": "array<double>"}]}]}
        """

    /// `guest` may read everything about a pier except its longitude.
    private static func run(
        tiles: MapTiles? = nil, _ body: @escaping @Sendable (Site) async throws -> Void
    ) async throws {
        let rules: @Sendable ([String: ObjectId]) -> String = { users in
            """
            version: 1
            Pier:
              - name: master
                applyWhen: {"%%user.id": "\(users["ada"]?.stringValue ?? "")"}
                read: true
                write: true
              - name: guest
                applyWhen: {}
                read: true
                fields: {longitude: {read: false, write: false}}
                additional_fields: {read: true, write: false}
            """
        }
        try await HarbourFixture.with(models: try ModelDocument(json: models), rules: rules) { fixture in
            let rules = LiveRules(fixture.rules)
            let panel = AdminPanel(
                rules: rules, pool: fixture.pool, authenticator: fixture.authenticator, models: fixture.models,
                tiles: tiles)
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.pool, rules: rules, models: fixture.models,
                authenticator: fixture.authenticator, pages: { panel.add(to: $0, with: $1) })
            try await app.test(.router) { try await body(Site(fixture: fixture, client: $0)) }
        }
    }

    @Test("without tiles, a place is shown in words with a link, and nothing is loaded from elsewhere")
    func words() async throws {
        try await Self.run { site in
            let path = try await site.pier(Self.berlin)
            let browser = try await site.browser()
            let answer = try await browser.get(path)
            #expect(answer.text.contains("52.5200° N, 13.4050° E"), "\(answer.text)")
            let link = "https://www.openstreetmap.org/?mlat=52.520000&amp;mlon=13.405000#map=15/52.520000/13.405000"
            #expect(answer.text.contains(#"<a href="\#(link)" rel="noopener noreferrer">"#), "\(answer.text)")
            #expect(!answer.text.contains("<img") && !answer.text.contains("<figure"))
            let policy = try #require(answer.headers[.contentSecurityPolicy])
            #expect(policy.contains("img-src 'self';"), "\(policy)")
            let form = try await browser.get("\(path)/edit").text
            #expect(form.contains(#"name="f.longitude""#) && !form.contains(#"class="place""#))
            #expect(try await browser.get(MapPages.path).status == 404)
            let nowhere = try await site.pier(["latitude": 1])
            #expect(!(try await browser.get(nowhere).text.contains(#"id="place""#)))
        }
    }

    @Test(
        "with tiles, the page has a map with a marker, zoom links and attribution, and may load only those images"
    )
    func map() async throws {
        try await Self.run(tiles: try MapTiles(Self.template)) { site in
            let path = try await site.pier(Self.berlin)
            let browser = try await site.browser()
            let answer = try await browser.get(path)
            let tiles = answer.text.matches(
                of:
                    /<img src="https:\/\/tile\.example\.org\/15\/([0-9]+)\/([0-9]+)\.png" alt="" [^>]*referrerpolicy="strict-origin">/
            )
            #expect(tiles.map { String($0.1) } == ["17603", "17604", "17605", "17603", "17604", "17605"])
            #expect(Set(tiles.map { String($0.2) }) == ["10745", "10746"])
            #expect(answer.text.contains(#"aria-label="Map of 52.5200° N, 13.4050° E""#), "\(answer.text)")
            // 1.15289 tiles of 256 pixels from the left, 1.43471 from the top.
            #expect(answer.text.contains(#"transform="translate(295 367)""#), "\(answer.text)")
            #expect(answer.text.contains("© OpenStreetMap contributors</a>"))
            #expect(!answer.text.contains(" style="))
            let policy = try #require(answer.headers[.contentSecurityPolicy])
            #expect(policy.contains("img-src 'self' https://tile.example.org;"), "\(policy)")
            #expect(answer.headers[HTTPField.Name("Referrer-Policy")!] == "same-origin")
            #expect(answer.text.contains(##"<a href="\##(path)?zoom=16#place">Zoom in</a>"##))
            let near = try await browser.get("\(path)?zoom=19").text
            #expect(near.contains("tile.example.org/19/") && !near.contains("Zoom in"))
            #expect(near.contains(##"href="\##(path)?zoom=18#place""##))
            #expect(try await browser.get("\(path)?zoom=far").text.contains("tile.example.org/15/"))
        }
    }

    @Test("embedded objects have their own maps, as do GeoJSON points")
    func embedded() async throws {
        try await Self.run(tiles: try MapTiles(Self.template)) { site in
            let path = try await site.pier([
                "entrance": ["east": -1, "north": 50],
                "spot": ["type": "Point", "coordinates": [.double(13.405), .double(52.52)]],
            ])
            let browser = try await site.browser()
            let page = try await browser.get(path).text
            #expect(page.contains(#"<h2 id="place-entrance">Place: Entrance</h2>"#), "\(page)")
            #expect(page.contains("50.0000° N, 1.0000° W"))
            #expect(page.contains(#"<h2 id="place-spot">Place: Spot</h2>"#) && page.contains("52.5200° N, 13.4050° E"))
            #expect(page.ranges(of: "<figure").count == 2)
            let form = try await browser.get("\(path)/edit").text
            let map = #"data-latitude="f-entrance.north" data-longitude="f-entrance.east""#
            #expect(form.contains(map), "\(form)")
            #expect(form.contains(#"data-latitude="f-latitude" data-longitude="f-longitude""#))
            #expect(form.ranges(of: #"class="place""#).count == 2)
        }
    }

    @Test("users who may read only one coordinate of a place see neither a map nor a description")
    func hidden() async throws {
        try await Self.run(tiles: try MapTiles(Self.template)) { site in
            let path = try await site.pier(Self.berlin)
            let guest = try await site.browser("guest")
            let page = try await guest.get(path).text
            #expect(page.contains("52.52") && !page.contains("13.405"), "\(page)")
            #expect(!page.contains("<figure") && !page.contains("openstreetmap") && !page.contains(#"id="place""#))
        }
    }

    @Test("a form reports impossible degrees at their field, and keeps what was entered")
    func mistakes() async throws {
        try await Self.run { site in
            let path = try await site.pier(Self.berlin)
            let browser = try await site.browser()
            var form = PanelRecordTests.fields(try await browser.get("\(path)/edit").text)
            form["f.latitude"] = "91"
            let answer = try await browser.send(path, form, token: nil)
            #expect(answer.status == 422 && answer.text.contains(#"id="w-f-latitude""#), "\(answer.text)")
            #expect(answer.text.contains("A latitude can&#39;t be 91.0 degrees. Send a number from -90 to 90."))
            #expect(PanelRecordTests.fields(answer.text)["f.latitude"] == "91")
            form["f.latitude"] = "-90"
            #expect(try await browser.send(path, form, token: nil).status == 303)
        }
    }

    @Test(
        "maps in forms are drawn from the request, for logged-in users only; a click on a map returns its coordinates")
    func picking() async throws {
        try await Self.run(tiles: try MapTiles(Self.template)) { site in
            let browser = try await site.browser("guest")
            let world = try await browser.get(MapPages.path)
            #expect(world.status == 200 && world.text.contains(#"data-zoom="1""#), "\(world.text)")
            #expect(!world.text.contains("<svg") && !world.text.contains("data-words"))
            #expect(world.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
            // The world is two tiles wide, with its centre one tile from the left and one from the top.
            let clicked = try await browser.get("\(MapPages.path)?latitude=&longitude=&zoom=1&x=1.5&y=1").text
            #expect(clicked.contains(#"data-latitude="0.0" data-longitude="90.0""#), "\(clicked)")
            #expect(clicked.contains(#"data-words="0.0000° N, 90.0000° E""#) && clicked.contains("<svg"))
            let place = "latitude=52.52&longitude=13.405"
            let shown = try await browser.get("\(MapPages.path)?\(place)").text
            #expect(shown.contains("tile.example.org/15/17604/10746.png"))
            for wrong in ["latitude=95&longitude=0", "latitude=x&longitude=1", "latitude=1", "\(place)&x=nan&y=1"] {
                let answer = try await browser.get("\(MapPages.path)?\(wrong)&zoom=3")
                #expect(answer.status == 200 && !answer.text.contains("<svg"), "\(wrong): \(answer.text)")
            }
            #expect(try await PanelBrowser(site.client).get(MapPages.path).status != 200)
        }
    }
}
