import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

/// Forms that arrive twice create their objects once.
@Suite struct RepeatedFormTests {
    private static let new = "/panel/new/tracks"

    private static func run(
        _ body: @escaping @Sendable (ServiceFixture, PanelBrowser, _ form: [String: String]) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                var form = PanelRecordTests.fields(try await browser.get("\(new)?f.event=\(fixture.event)").text)
                form["f.name"] = "Twice"
                try await body(fixture, browser, form)
            }
        }
    }

    private static func count(_ fixture: ServiceFixture, of table: String = "track", named name: String) async throws
        -> Int
    {
        try await fixture.pool.query("SELECT count(*) FROM \(table) WHERE name = $1", [.text(name)])[0, 0].int
    }

    @Test("a form that arrives twice at the same time makes one object, and both requests lead to it")
    func atOnce() async throws {
        try await Self.run { fixture, browser, form in
            async let first = browser.send(Self.new, form, token: nil)
            async let second = browser.send(Self.new, form, token: nil)
            let answers = try await [first, second]
            #expect(answers.map(\.status) == [303, 303], "\(answers.map(\.text))")
            #expect(Set(answers.map { $0.headers[.location] }).count == 1)
            #expect(try await Self.count(fixture, named: "Twice") == 1)
        }
    }

    @Test("a form that is sent again leads to the object that it made, says so, and doesn't change the object")
    func again() async throws {
        try await Self.run { fixture, browser, form in
            let path = try #require(try await browser.send(Self.new, form, token: nil).headers[.location])
            try await fixture.pool.execute("UPDATE track SET details = 'Since' WHERE name = 'Twice'")
            let second = try await browser.send(Self.new, form, token: nil)
            #expect(second.status == 303 && second.headers[.location] == path, "\(second.text)")
            let page = try await browser.get(path).text
            #expect(page.contains("Created only once, although the form was sent twice.") && page.contains("Since"))
            // Going back and entering something else makes another object.
            let other = try await browser.send(Self.new, form.merging(["f.name": "Other"]) { $1 }, token: nil)
            #expect(other.status == 303 && other.headers[.location] != path)
            // So does opening the form anew.
            let fresh = PanelRecordTests.fields(try await browser.get(Self.new).text)
            #expect(fresh["_seed"] != form["_seed"])
            let third = try await browser.send(
                Self.new, form.merging(["_seed": fresh["_seed"] ?? ""]) { $1 }, token: nil)
            #expect(third.status == 303 && third.headers[.location] != path)
            #expect(try await Self.count(fixture, named: "Twice") == 2)
        }
    }

    @Test("a copy is made once, and a trashed object isn't made again")
    func copy() async throws {
        try await Self.run { fixture, browser, _ in
            let original = try await fixture.rows().insert(
                "Track", ["event": .objectId(fixture.event), "name": "Copied"])
            let form = PanelRecordTests.fields(try await browser.get("\(Self.new)?copy=\(original)").text)
            let path = try #require(try await browser.send(Self.new, form, token: nil).headers[.location])
            #expect(try await browser.send(Self.new, form, token: nil).headers[.location] == path)
            #expect(try await Self.count(fixture, named: "Copied") == 2)
            let confirm = PanelRecordTests.fields(try await browser.get("\(path)/delete").text)
            #expect(try await browser.send("\(path)/delete", confirm, token: nil).status == 303)
            let late = try await browser.send(Self.new, form, token: nil)
            #expect(late.status == 303 && late.headers[.location] == "/panel/data/tracks", "\(late.text)")
            #expect(try await Self.count(fixture, named: "Copied") == 2)
        }
    }

    @Test(
        "nobody can choose the key of a new object, or reach somebody else's object with their form",
        arguments: ["", "x", "000000000000000000000000", nil])
    func forged(_ seed: String?) async throws {
        try await Self.run { fixture, browser, form in
            let path = try #require(try await browser.send(Self.new, form, token: nil).headers[.location])
            // Another user's form, sent in one's own session.
            let other = try await PanelBrowser.loggedIn(browser.client, as: "superAdmin")
            var theirs = form
            theirs["_token"] = try await other.formToken()
            let made = try await other.send(Self.new, theirs, token: nil)
            #expect(made.status == 303 && made.headers[.location] != path, "\(made.text)")
            theirs["_seed"] = seed
            let also = try await other.send(Self.new, theirs, token: nil)
            #expect(also.status == 303 && ![path, made.headers[.location]].contains(also.headers[.location]))
            // An object's id isn't a seed that leads to it.
            theirs["_seed"] = String(path.suffix(24))
            #expect(try await other.send(Self.new, theirs, token: nil).headers[.location] != path)
            #expect(try await Self.count(fixture, named: "Twice") == 4)
        }
    }

    @Test("new rows in a record's form are created once, with or without a change of the record")
    func children() async throws {
        try await ChildRowsTests.run { site in
            for (round, name) in [nil, "Another name"].enumerated() {
                var form = try await site.form()
                if let name { form["f.name"] = name }
                form["f.\(try ChildRowsTests.row("A", form)).details"] = "Round \(round)"
                form["f.\(try ChildRowsTests.row("", form)).name"] = "Added \(round)"
                let sent = form
                async let first = site.browser.send(site.action(), sent, token: nil)
                async let second = site.browser.send(site.action(), sent, token: nil)
                let answers = try await [first, second]
                #expect(answers.map(\.status) == [303, 303], "\(answers.map(\.text))")
                #expect(try await Self.count(site.fixture, named: "Added \(round)") == 1)
            }
            #expect(try await site.names() == ["Another name", "A", "Added 0", "Added 1", "B"])
        }
    }

    @Test("a new record with rows is created once, and different rows make another record")
    func together() async throws {
        try await ChildRowsTests.run { site in
            let path = "\(Self.new)?with=Session.track"
            var form = PanelRecordTests.fields(try await site.browser.get(path).text)
            form["f.name"] = "Twice"
            form["f.event"] = site.fixture.event.stringValue
            let new = try ChildRowsTests.row("", form, by: "title")
            form["f.\(new).title"] = "Talk of a track"
            form["f.\(new).state"] = "pending"
            let sent = form
            async let first = site.browser.send(path, sent, token: nil)
            async let second = site.browser.send(path, sent, token: nil)
            let answers = try await [first, second]
            #expect(answers.map(\.status) == [303, 303], "\(answers.map(\.text))")
            #expect(Set(answers.map { $0.headers[.location] }).count == 1)
            let talks = "SELECT count(*) FROM session WHERE title = 'Talk of a track'"
            #expect(try await site.fixture.pool.query(talks)[0, 0].int == 1)
            form["f.\(new).title"] = "Another talk"
            #expect(try await site.browser.send(path, form, token: nil).status == 303)
            #expect(try await Self.count(site.fixture, named: "Twice") == 2)
        }
    }

    @Test("new rows in a list are created once, and rows that already have what was entered count as saved")
    func rows() async throws {
        try await ChildRowsTests.run { site in
            let path = "/panel/rows/tracks?filter[event]=\(site.fixture.event)&columns=name,details&sort=name"
            var form = PanelRecordTests.fields(try await site.browser.get(path).text)
            try #require(form["f.0.name"] == "A" && form["i.2"] == "", "\(form)")
            form["f.0.details"] = "Changed"
            form["f.2.name"] = "Added"
            form["f.3.name"] = "Added"
            for _ in 1...2 {
                let saved = try await site.browser.send(path, form, token: nil)
                #expect(saved.status == 303, "\(saved.text)")
                let page = try await site.browser.get(saved.headers[.location] ?? "").text
                #expect(page.contains("3 tracks were saved."))
            }
            #expect(try await Self.count(site.fixture, named: "Added") == 2)
        }
    }

    @Test("a change that arrives twice is saved, and doesn't count as somebody else's change")
    func change() async throws {
        try await ChildRowsTests.run { site in
            var form = PanelRecordTests.fields(try await site.browser.get("\(site.path)/edit").text)
            form["f.name"] = "Renamed"
            let sent = form
            async let first = site.browser.send(site.path, sent, token: nil)
            async let second = site.browser.send(site.path, sent, token: nil)
            let answers = try await [first, second]
            #expect(answers.map(\.status) == [303, 303], "\(answers.map(\.text))")
            #expect(try await site.names()[0] == "Renamed")
        }
    }
}
