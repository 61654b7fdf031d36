import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

@testable import AdminPanel

/// Embedded objects and lists in record forms, as a browser without JavaScript sends them.
@Suite struct StructuredFormTests {
    struct Site: Sendable {
        let fixture: HarbourFixture
        let client: any TestClientProtocol
        let browser: PanelBrowser

        func form(_ path: String) async throws -> [String: String] {
            let page = try await browser.get(path)
            try #require(page.status == 200, "\(page.text)")
            return PanelRecordTests.fields(page.text)
        }

        /// Presses a button in the form, and returns the form that comes back.
        func press(_ button: String, _ path: String, _ form: [String: String]) async throws -> [String: String] {
            let answer = try await browser.send(path, form.merging([FormAction.field: button]) { $1 }, token: nil)
            try #require(answer.status == 200, "\(answer.text)")
            return PanelRecordTests.fields(answer.text)
        }

        func attributes(_ id: String) async throws -> JSON {
            try await fixture.call(client, .get, "/api/ships/\(id)").json["data"]?["attributes"] ?? .null
        }
    }

    static func run(
        rules: (@Sendable ([String: ObjectId]) -> String)? = nil, as user: String = "ada",
        thumbnails: Thumbnails? = nil, _ body: @escaping @Sendable (Site) async throws -> Void
    ) async throws {
        try await HarbourFixture.with(rules: rules) { fixture in
            let rules = LiveRules(fixture.rules)
            let panel = AdminPanel(
                rules: rules, pool: fixture.pool, authenticator: fixture.authenticator, models: fixture.models,
                thumbnails: thumbnails)
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.pool, rules: rules, models: fixture.models,
                authenticator: fixture.authenticator, pages: { panel.add(to: $0, with: $1) })
            try await app.test(.router) { client in
                let browser = try await PanelBrowser.loggedIn(client, as: user)
                try await body(Site(fixture: fixture, client: client, browser: browser))
            }
        }
    }

    /// Like ``run(rules:as:_:)``, but nobody may read or write one property of ships, or any ship not named `Public`.
    static func run(hiding property: String, _ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        let rules: @Sendable ([String: ObjectId]) -> String = { _ in
            """
            version: 1
            Ship:
              - name: everybody
                applyWhen: {}
                read: {name: Public}
                write: {name: Public}
                fields: {\(property): {read: false, write: false}}
                additional_fields: {read: true, write: true}
            Sailor:
              - {name: everybody, applyWhen: {}, read: true, write: true}
            """
        }
        try await run(rules: rules, body)
    }

    static func hold(_ label: String, _ more: [String: JSON] = [:]) -> JSON {
        .object(["label": .string(label), "volume": .double(1.5), "isCooled": false, "marks": []].merging(more) { $1 })
    }

    private static let quay: JSON = [
        "town": "Kiel", "remark": .null, "opensAt": "2026-05-14T13:22:18.123456Z", "berths": [3, 1],
        "place": ["latitude": .double(54.25), "note": "here"],
    ]

    @Test("an untouched form changes nothing in embedded objects and lists")
    func untouched() async throws {
        try await Self.run { site in
            let sailor = try await site.fixture.sailor("Ann")
            let id = try await site.fixture.ship(
                site.client,
                [
                    "home": Self.quay, "tags": ["a", "", "two\nlines"], "depths": [.double(1.5), .null, 3],
                    "kinds": ["tug"], "photo": "AAEC",
                    "holds": [
                        Self.hold("fore", ["stamp": "AAH/", "boxes": [["content": "tea", "count": 3]]]),
                        Self.hold("aft", ["keeper": .string(sailor.stringValue), "marks": ["x"]]),
                    ],
                ], crew: [sailor, sailor])
            let path = "/panel/data/ships/\(id)"
            let form = try await site.form("\(path)/edit")
            #expect(form["f.holds.0.label"] == "fore" && form["f.home.place.latitude"] == "54.25", "\(form)")
            #expect(form["f.holds.0.boxes.0.content"] == "tea" && form["n.crew"] == "2")
            let answer = try await site.browser.send(path, form, token: nil)
            #expect(answer.status == 303, "\(answer.text)")
            #expect(try await site.browser.get(path).text.contains("Nothing was changed."))
        }
    }

    @Test("an embedded object is created, changed and cleared by its group of fields")
    func embedded() async throws {
        try await Self.run { site in
            let id = try await site.fixture.ship(site.client, [:])
            let path = "/panel/data/ships/\(id)"
            var form = try await site.form("\(path)/edit")
            #expect(form["g.home"] == "no" && form["f.home.town"] == nil)
            form["f.name"] = "Not saved yet"
            form = try await site.press("set home", path, form)
            #expect(form["g.home"] == "yes" && form["f.home.town"] == "" && form["f.name"] == "Not saved yet")
            form["f.home.town"] = "Kiel"
            form = try await site.press("set home.place", path, form)
            form["f.home.place.latitude"] = "54.25"
            #expect(try await site.browser.send(path, form, token: nil).status == 303)
            var home = try await site.attributes(id)["home"]
            #expect(
                home?["town"] == "Kiel" && home?["place"]?["latitude"] == .double(54.25), "\(String(describing: home))")
            #expect(home?["remark"] == .null && home?["berths"] == [])
            #expect(try await site.browser.get(path).text.contains("Not saved yet"))

            form = try await site.form("\(path)/edit")
            form["f.home.remark"] = "quiet"
            form = try await site.press("clear home.place", path, form)
            #expect(try await site.browser.send(path, form, token: nil).status == 303)
            home = try await site.attributes(id)["home"]
            #expect(home?["remark"] == "quiet" && home?["place"] == .null && home?["town"] == "Kiel")

            form = try await site.press("clear home", path, try await site.form("\(path)/edit"))
            #expect(try await site.browser.send(path, form, token: nil).status == 303)
            #expect(try await site.attributes(id)["home"] == .null)
        }
    }

    @Test("list elements can be added, changed, moved and removed, and nothing is saved before the form is")
    func values() async throws {
        try await Self.run { site in
            let id = try await site.fixture.ship(site.client, ["tags": ["a", "b", "c"]])
            let path = "/panel/data/ships/\(id)"
            var form = try await site.form("\(path)/edit")
            form["f.tags.0"] = "A"
            form = try await site.press("down tags.0", path, form)
            form = try await site.press("up tags.2", path, form)
            form = try await site.press("add tags", path, form)
            form["f.tags.3"] = "d"
            form = try await site.press("remove tags.0", path, form)
            #expect((0..<3).map { form["f.tags.\($0)"] } == ["c", "A", "d"] && form["n.tags"] == "3")
            #expect(try await site.attributes(id)["tags"] == ["a", "b", "c"])
            #expect(try await site.browser.send(path, form, token: nil).status == 303)
            #expect(try await site.attributes(id)["tags"] == ["c", "A", "d"])
        }
    }

    @Test("elements of embedded lists keep their identity, and the values without a control")
    func objects() async throws {
        try await Self.run { site in
            let id = try await site.fixture.ship(
                site.client,
                [
                    "holds": [
                        Self.hold("a", ["stamp": "AAH/"]), Self.hold("b", ["boxes": [["content": "tea", "count": 3]]]),
                    ]
                ])
            let path = "/panel/data/ships/\(id)"
            let old = try await site.attributes(id)["holds"]?.list ?? []
            var form = try await site.form("\(path)/edit")
            form["f.holds.0.volume"] = "7"
            form["f.holds.0.isCooled"] = "true"
            form = try await site.press("up holds.1", path, form)
            form = try await site.press("add holds.0.boxes", path, form)
            form["f.holds.0.boxes.1.content"] = "salt"
            form["f.holds.0.boxes.1.count"] = "2"
            form = try await site.press("add holds.1.marks", path, form)
            form["f.holds.1.marks.0"] = "fragile"
            form = try await site.press("add holds", path, form)
            form["f.holds.2.label"] = "new"
            form["f.holds.2.volume"] = "0"
            let saved = try await site.browser.send(path, form, token: nil)
            #expect(saved.status == 303, "\(saved.text)")
            let now = try await site.attributes(id)["holds"]?.list ?? []
            #expect(now.map { $0["label"] } == ["b", "a", "new"])
            #expect(now[0]["id"] == old[1]["id"] && now[1]["id"] == old[0]["id"])
            #expect(now[1]["stamp"] == "AAH/" && now[1]["volume"] == .int(7) || now[1]["volume"] == .double(7))
            #expect(now[1]["isCooled"] == true && now[1]["marks"] == ["fragile"])
            let boxes = now[0]["boxes"]?.list ?? []
            #expect(boxes.map { $0["content"] } == ["tea", "salt"])
            #expect(boxes.first?["id"] == old[1]["boxes"]?.list.first?["id"])
        }
    }

    @Test("links for a list can be chosen, also through a search, and a chosen one is added even without the button")
    func links() async throws {
        try await Self.run { site in
            let ann = try await site.fixture.sailor("Ann <b>")
            let bo = try await site.fixture.sailor("Bo")
            let id = try await site.fixture.ship(site.client, [:], crew: [ann])
            let path = "/panel/data/ships/\(id)"
            var form = try await site.form("\(path)/edit")
            #expect(try await site.browser.get("\(path)/edit").text.contains("Ann &lt;b&gt;"))
            form["a.crew"] = bo.stringValue
            form = try await site.press("add crew", path, form)
            #expect(form["f.crew.1"] == bo.stringValue && form["a.crew"] == "")
            form = try await site.press("up crew.1", path, form)
            form["a.crew"] = ann.stringValue
            form = try await site.press("remove crew.1", path, form)
            form["a.crew"] = ann.stringValue
            let saved = try await site.browser.send(path, form, token: nil)
            #expect(saved.status == 303, "\(saved.text)")
            let crew = try await site.fixture.call(site.client, .get, "/api/ships/\(id)/relationships/crew")
            #expect(crew.json["data"]?.list.map { $0["id"] } == [.string(bo.stringValue), .string(ann.stringValue)])

            for number in 0...RecordReader.choiceCount { _ = try await site.fixture.sailor("Sailor <\(number)>") }
            form = try await site.form("\(path)/edit")
            let page = try await site.browser.get("\(path)/edit").text
            #expect(page.contains("Search Sailors") && !page.contains("Sailor &lt;7&gt;"))
            form["q.crew"] = "sailor <7"
            form[EditPage.findField] = "crew"
            let found = try await site.browser.send(path, form, token: nil)
            #expect(found.text.contains("Sailor &lt;7&gt;") && !found.text.contains("Sailor &lt;8&gt;"))

            form = try await site.form("\(path)/edit")
            form["f.crew.0"] = ObjectId.generate().stringValue
            let refused = try await site.browser.send(path, form, token: nil)
            #expect(refused.status == 422 && refused.text.contains(##"href="#f-crew.0""##), "\(refused.text)")
        }
    }

    @Test("problems are shown at the element and field, and everything entered is still there")
    func mistakes() async throws {
        try await Self.run { site in
            let id = try await site.fixture.ship(
                site.client, ["home": Self.quay, "holds": [Self.hold("a"), Self.hold("b")]])
            let path = "/panel/data/ships/\(id)"
            var form = try await site.form("\(path)/edit")
            form["f.holds.1.volume"] = "much"
            form["f.holds.0.label"] = "kept"
            form["f.home.berths.1"] = "x"
            form["f.home.place.latitude"] = ""
            let answer = try await site.browser.send(path, form, token: nil)
            #expect(answer.status == 422)
            for place in ["holds.1.volume", "home.berths.1", "home.place.latitude"] {
                #expect(answer.text.contains("id=\"w-f-\(place)\""), "\(place)")
                #expect(answer.text.contains("href=\"#f-\(place)\""), "\(place)")
            }
            let back = PanelRecordTests.fields(answer.text)
            #expect(back["f.holds.1.volume"] == "much" && back["f.holds.0.label"] == "kept")
            #expect(try await site.attributes(id)["holds"]?.list.map { $0["label"] } == ["a", "b"])
        }
    }

    @Test("hostile forms with lists are refused or change nothing")
    func hostile() async throws {
        try await Self.run { site in
            let other = try await site.fixture.ship(site.client, ["holds": [Self.hold("theirs")]])
            let id = try await site.fixture.ship(site.client, ["tags": ["a"], "holds": [Self.hold("mine")]])
            let theirs = try #require(try await site.attributes(other)["holds"]?.list.first)
            let path = "/panel/data/ships/\(id)"
            let before = try await site.attributes(id)
            let form = try await site.form("\(path)/edit")
            for count in ["-1", "201", "99999999999999999999", "x", "1e9", ""] {
                var sent = form
                sent["n.tags"] = count
                #expect(try await site.browser.send(path, sent, token: nil).status == 400, "\(count)")
            }
            for button in [
                "add", "add nothing", "up tags.0", "down tags.99999999999999999999", "remove tags.-1",
                "remove tags.0.0",
                "add tags.0", "set tags", "clear holds.0", "add holds.5.boxes", "fly tags", "add holds..boxes",
                "add ..", "remove holds.0.label",
            ] {
                var sent = form
                sent[FormAction.field] = button
                let answer = try await site.browser.send(path, sent, token: nil)
                #expect(answer.status == 200 || answer.status == 303, "\(button)")
                guard answer.status == 200 else { continue }
                let back = PanelRecordTests.fields(answer.text)
                #expect(back["n.tags"] == "1" && back["n.holds"] == "1", "\(button)")
            }
            var (long, deep) = (form, form)
            long["j.tags"] = JSON.array((0...FormEntry.maximumElementCount).map { .string("t\($0)") }).jsonText
            deep["n.holds"] = "200"
            for hold in 0..<200 { deep["n.holds.\(hold).boxes"] = "200" }
            for form in [long, deep] {
                for button in ["add tags", nil] {
                    var sent = form
                    sent[FormAction.field] = button
                    #expect(try await site.browser.send(path, sent, token: nil).status == 422)
                }
            }
            var unknown = form
            unknown["f.tags.7"] = "ghost"
            unknown["f.holds.0.owner"] = "x"
            unknown["f.holds.0._rank"] = "x"
            unknown["f.holds.0.bogus"] = "x"
            unknown["i.holds.9"] = "x"
            #expect(try await site.browser.send(path, unknown, token: nil).status == 303)
            #expect(try await site.attributes(id) == before)

            // Another object's element can't be taken over.
            var stolen = form
            if case .string(let theirID)? = theirs["id"] { stolen["i.holds.0"] = theirID }
            #expect(try await site.browser.send(path, stolen, token: nil).status == 303)
            #expect(try await site.attributes(other)["holds"]?.list == [theirs])
            let mine = try #require(try await site.attributes(id)["holds"]?.list.first)
            #expect(mine["id"] != theirs["id"] && mine["label"] == "mine")
        }
    }

    @Test("elements beyond what a form shows aren't in it, and stay as they are")
    func longLists() async throws {
        try await Self.run { site in
            let tags = JSON.array((0...FormEntry.maximumElementCount).map { .string("t\($0)") })
            let id = try await site.fixture.ship(site.client, ["tags": tags])
            let path = "/panel/data/ships/\(id)"
            let page = try await site.browser.get("\(path)/edit").text
            #expect(page.contains("Not in this form: ") && page.contains("Tags"))
            var form = PanelRecordTests.fields(page)
            #expect(form["n.tags"] == nil)
            form["f.name"] = "Other"
            #expect(try await site.browser.send(path, form, token: nil).status == 303)
            #expect(try await site.attributes(id)["tags"] == tags)

            let full = JSON.array((0..<FormEntry.maximumElementCount).map { .string("t\($0)") })
            let second = "/panel/data/ships/\(try await site.fixture.ship(site.client, ["tags": full]))"
            let same = try await site.press("add tags", second, try await site.form("\(second)/edit"))
            #expect(same["n.tags"] == "\(FormEntry.maximumElementCount)")
        }
    }

    @Test("an embedded object with a list too long to be read isn't in a form, and stays as it is")
    func longInnerLists() async throws {
        try await Self.run { site in
            let id = try await site.fixture.ship(site.client, ["home": Self.quay])
            let wardens = try #require(site.fixture.rules.schema.index(of: "Ship.home.wardens"))
            let table = site.fixture.rules.schema[wardens].table
            let sailor = try await site.fixture.sailor("Warden")
            try await site.fixture.pool.query(
                """
                INSERT INTO \(table) (_id, owner, rank, target)
                SELECT substr(sha256(n::text::bytea), 1, 12), (SELECT _id FROM ship), 'b' || lpad(n::text, 6, '0'), $1
                FROM generate_series(1, 1001) n
                """, [.bytea(sailor.bytes)])
            let path = "/panel/data/ships/\(id)"
            let page = try await site.browser.get("\(path)/edit").text
            #expect(page.contains("Not in this form: ") && page.contains("Home"))
            var form = PanelRecordTests.fields(page)
            #expect(form["f.home.town"] == nil)
            form["f.name"] = "Other"
            #expect(try await site.browser.send(path, form, token: nil).status == 303)
            let left = try await site.fixture.pool.query("SELECT count(*) FROM \(table)")
            #expect(try left[0, 0].int64 == 1_001)
        }
    }

    @Test("when two users edit a list at once, the second sees both versions by element, and chooses")
    func conflict() async throws {
        try await Self.run { site in
            let id = try await site.fixture.ship(
                site.client, ["tags": ["a", "b"], "home": Self.quay, "holds": [Self.hold("h")]])
            let path = "/panel/data/ships/\(id)"
            var form = try await site.form("\(path)/edit")
            let body: JSON = [
                "data": [
                    "type": "ships", "id": .string(id),
                    "attributes": ["tags": ["a", "b", "theirs <i>"], "holds": [Self.hold("h2")]],
                ]
            ]
            #expect(try await site.fixture.call(site.client, .patch, "/api/ships/\(id)", body).status == 200)
            form = try await site.press("add tags", path, form)
            form["f.tags.2"] = "mine"
            form["f.home.town"] = "Bremen"
            let answer = try await site.browser.send(path, form, token: nil)
            #expect(answer.status == 412, "\(answer.text)")
            for text in ["theirs &lt;i&gt;", "mine", "changed by both", "Town: Bremen", "Label: h2"] {
                #expect(answer.text.contains(text), "\(text)")
            }
            var choice = PanelRecordTests.fields(answer.text)
            #expect(choice["j.tags"] == nil && choice["j.home"] != nil, "\(choice)")
            choice["j.tags"] = #"["a","b","theirs <i>","mine"]"#
            let saved = try await site.browser.send(path, choice, token: nil)
            #expect(saved.status == 303, "\(saved.text)")
            let now = try await site.attributes(id)
            #expect(now["tags"] == ["a", "b", "theirs <i>", "mine"] && now["home"]?["town"] == "Bremen")
            #expect(now["holds"]?.list.map { $0["label"] } == ["h2"])
        }
    }

    @Test("a list that somebody else made too long for a form stays as they made it, whatever is chosen for the rest")
    func longerMeanwhile() async throws {
        try await Self.run { site in
            let long = JSON.array((0...FormEntry.maximumElementCount).map { .string("t\($0)") })
            for isMine in [false, true] {
                let id = try await site.fixture.ship(site.client, ["tags": ["a"]])
                let path = "/panel/data/ships/\(id)"
                var form = try await site.form("\(path)/edit")
                let body: JSON = ["data": ["type": "ships", "id": .string(id), "attributes": ["tags": long]]]
                #expect(try await site.fixture.call(site.client, .patch, "/api/ships/\(id)", body).status == 200)
                form["f.name"] = "Mine"
                if isMine { form["f.tags.0"] = "mine" }
                let answer = try await site.browser.send(path, form, token: nil)
                #expect(answer.status == 412, "\(answer.text)")
                #expect(answer.text.contains("Tags has become too long for a form") == isMine)
                let choice = PanelRecordTests.fields(answer.text)
                #expect(choice["f.name"] == "Mine", "\(choice)")
                let saved = try await site.browser.send(path, choice, token: nil)
                #expect(saved.status == 303, "\(saved.text)")
                let now = try await site.attributes(id)
                #expect(now["name"] == "Mine" && now["tags"] == long)
            }
        }
    }

    @Test("a change to a field that the rules fix is refused at its place, and hidden fields aren't in the form")
    func rules() async throws {
        let rules: @Sendable ([String: ObjectId]) -> String = { _ in
            """
            version: 1
            Ship:
              - name: everybody
                applyWhen: {}
                read: true
                write: true
                fields:
                  home: {read: true, write: true, fields: {town: {read: true, write: false}, remark: {read: false, write: false}}}
            Sailor:
              - {name: everybody, applyWhen: {}, read: true, write: true}
            """
        }
        try await Self.run(rules: rules) { site in
            let id = try await site.fixture.ship(site.client, [:])
            try await site.fixture.pool.execute(
                "UPDATE ship SET home = true, home_town = 'Kiel', home_remark = 'secret', home_berths = '\\x00'")
            let path = "/panel/data/ships/\(id)"
            let page = try await site.browser.get("\(path)/edit").text
            #expect(!page.contains("secret") && !page.contains("f.home.remark"))
            var form = PanelRecordTests.fields(page)
            form["f.home.remark"] = "mine"
            form = try await site.press("add home.berths", path, form)
            form["f.home.berths.0"] = "4"
            #expect(try await site.browser.send(path, form, token: nil).status == 303)
            let rows = try await site.fixture.pool.query("SELECT home_remark, home_town FROM ship")
            #expect(try rows[0, 0].string == "secret" && rows[0, 1].string == "Kiel")
            form = try await site.form("\(path)/edit")
            form["f.home.town"] = "Bremen"
            let refused = try await site.browser.send(path, form, token: nil)
            #expect(refused.status == 403 && refused.text.contains(##"href="#f-home.town""##), "\(refused.text)")
        }
    }

    @Test("a new object has lists and embedded objects, and a copy has the original's")
    func making() async throws {
        try await Self.run { site in
            var form = try await site.form("/panel/new/ships")
            form["f.name"] = "Fresh"
            form["f.kind"] = "tug"
            form = try await site.press("add holds", "/panel/new/ships", form)
            form["f.holds.0.label"] = "one"
            form["f.holds.0.volume"] = "2"
            form = try await site.press("add tags", "/panel/new/ships", form)
            form["f.tags.0"] = "x"
            let made = try await site.browser.send("/panel/new/ships", form, token: nil)
            // The seal takes bytes.
            #expect(made.status == 422 && made.text.contains(#"id="w-f-seal""#), "\(made.text)")
            let id = try await site.fixture.ship(
                site.client, ["tags": ["x"], "holds": [Self.hold("one")], "home": Self.quay])
            var copy = try await site.form("/panel/new/ships?copy=\(id)")
            copy["f.name"] = "Copy"
            copy = try await site.press("add tags", "/panel/new/ships", copy)
            copy["f.tags.1"] = "y"
            let copied = try await site.browser.send("/panel/new/ships", copy, token: nil)
            let path = try #require(copied.headers[.location], "\(copied.text)")
            let attributes = try await site.attributes(String(path.split(separator: "/").last ?? ""))
            #expect(attributes["tags"] == ["x", "y"] && attributes["home"]?["town"] == "Kiel")
            #expect(attributes["holds"]?.list.first?["label"] == "one" && attributes["seal"] == "AAEC")
            let original = try await site.attributes(id)
            #expect(attributes["holds"]?.list.first?["id"] != original["holds"]?.list.first?["id"])
        }
    }

    @Test("enumeration values can be chosen in forms, in lists, and in list filters")
    func enumerations() async throws {
        try await Self.run { site in
            let id = try await site.fixture.ship(site.client, ["kind": "tug", "kinds": ["ferry"]])
            _ = try await site.fixture.ship(site.client, ["kind": "yacht", "name": "Other one"])
            let path = "/panel/data/ships/\(id)"
            let page = try await site.browser.get("\(path)/edit").text
            #expect(page.contains(#"<option value="tug" selected>tug</option>"#))
            #expect(page.contains(#"<option value="icebreaker">icebreaker</option>"#))
            var form = PanelRecordTests.fields(page)
            #expect(form["f.kind"] == "tug" && form["f.former"] == "" && form["f.kinds.0"] == "ferry")
            form["f.kind"] = "pilot"
            form["f.decks"] = "2"
            form["f.kinds.0"] = "trawler"
            #expect(try await site.browser.send(path, form, token: nil).status == 303)
            let now = try await site.attributes(id)
            #expect(now["kind"] == "pilot" && now["decks"] == 2 && now["kinds"] == ["trawler"])

            form = try await site.form("\(path)/edit")
            form["f.kind"] = "submarine"
            let refused = try await site.browser.send(path, form, token: nil)
            #expect(refused.status == 422 && refused.text.contains(#"id="w-f-kind""#), "\(refused.text)")
            #expect(refused.text.contains(#"<option value="submarine" selected>"#))

            let list = try await site.browser.get("/panel/data/ships").text
            #expect(list.contains(#"name="is[kind]""#) && list.contains("Other one"))
            let asked = try await site.browser.get("/panel/data/ships?is%5Bkind%5D=pilot&page%5Bnumber%5D=2")
            #expect(asked.status == 303)
            let address = try #require(asked.headers[.location])
            let found = try await site.browser.get(address).text
            #expect(
                address.contains("filter%5Bkind%5D=pilot") && !found.contains("Other one") && found.contains("Gorch"))
            let any = try await site.browser.get("\(address)&is%5Bkind%5D=")
            #expect(any.headers[.location]?.contains("filter") == false)
        }
    }
}
