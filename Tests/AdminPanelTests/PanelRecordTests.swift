import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

@Suite struct PanelRecordTests {
    /// The fields of a page's form, as a browser would send them again.
    static func fields(_ page: String) -> [String: String] {
        var fields: [String: String] = [:]
        for match in page.matches(of: /<input([^>]*)>/) {
            let tag = String(match.1)
            guard let name = tag.firstMatch(of: /name="([^"]*)"/)?.1 else { continue }
            let isChoice = tag.contains("type=\"radio\"") || tag.contains("type=\"checkbox\"")
            if isChoice && !tag.contains(" checked") { continue }
            fields[String(name)] = Self.unescaped(tag.firstMatch(of: /value="([^"]*)"/).map { String($0.1) } ?? "")
        }
        for match in page.matches(of: /<select[^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/.dotMatchesNewlines()) {
            let options = String(match.2)
            let chosen =
                options.firstMatch(of: /<option value="([^"]*)" selected/)?.1
                ?? options.firstMatch(of: /<option value="([^"]*)"/)?.1
            fields[String(match.1)] = Self.unescaped(chosen.map(String.init) ?? "")
        }
        for match in page.matches(of: /<textarea[^>]*name="([^"]*)"[^>]*>\n(.*?)<\/textarea>/.dotMatchesNewlines()) {
            fields[String(match.1)] = Self.unescaped(String(match.2))
        }
        return fields
    }

    private static func unescaped(_ text: String) -> String {
        text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }

    /// A browser, and the form of the first session.
    private static func withForm(
        as role: String = "owner",
        _ body:
            @Sendable (_ fixture: ServiceFixture, PanelBrowser, _ path: String, _ form: [String: String]) async throws
            -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: role)
                let path = "/panel/data/sessions/\(fixture.sessions[0])"
                let page = try await browser.get("\(path)/edit")
                try #require(page.status == 200, "\(page.text)")
                try await body(fixture, browser, path, Self.fields(page.text))
            }
        }
    }

    private static func title(_ fixture: ServiceFixture) async throws -> String {
        try await fixture.pool.query("SELECT title FROM session WHERE _id = $1", [.objectId(fixture.sessions[0])])[0, 0]
            .string
    }

    @Test("a record shows its fields, the objects it links to, and those that link to it")
    func record() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let session = try await browser.get("/panel/data/sessions/\(fixture.sessions[0])").text
                for text in ["Talk 1", "Main Hall", "Island Days", "Ada", "Grace"] {
                    #expect(session.contains(text), "\(text)")
                }
                let event = try await browser.get("/panel/data/events/\(fixture.event)").text
                #expect(event.contains("/panel/data/sessions?filter%5Bevent%5D=\(fixture.event)"))
                #expect(event.contains("<strong>3</strong> <span>Sessions"))
                let list = try await browser.get("/panel/data/sessions?filter%5Bevent%5D=\(fixture.event)").text
                #expect(list.contains("of 3"))
                for id in ["nothing", "\(ObjectId.generate())", "%3Cscript%3E"] {
                    #expect(try await browser.get("/panel/data/sessions/\(id)").status == 404)
                }
            }
        }
    }

    @Test("an untouched form changes nothing, and a single field can be changed alone")
    func save() async throws {
        try await Self.withForm { fixture, browser, path, form in
            let nothing = try await browser.send(path, form, token: nil)
            #expect(nothing.status == 303)
            #expect(try await browser.get(path).text.contains("Nothing was changed."))
            var form = form
            form["f.title"] = "Talk \"one\" <b>"
            let before = try await fixture.pool.query(
                "SELECT (to_jsonb(s) - 'title')::text FROM session s WHERE _id = $1", [.objectId(fixture.sessions[0])])[
                    0, 0
                ].string
            let saved = try await browser.send(path, form, token: nil)
            #expect(saved.status == 303 && saved.headers[.location] == path)
            #expect(try await Self.title(fixture) == "Talk \"one\" <b>")
            let after = try await fixture.pool.query(
                "SELECT (to_jsonb(s) - 'title')::text FROM session s WHERE _id = $1", [.objectId(fixture.sessions[0])])[
                    0, 0
                ].string
            #expect(before == after)
            // A notice is shown once.
            #expect(try await browser.get(path).text.contains("Saved."))
            #expect(!(try await browser.get(path).text.contains("Saved.")))
        }
    }

    @Test("text can be changed to text that only looks the same, such as from a separate accent to a combined letter")
    func sameLook() async throws {
        try await Self.withForm { fixture, browser, path, form in
            var form = form
            form["f.title"] = "Cafe\u{301}"
            #expect(try await browser.send(path, form, token: nil).status == 303)
            form = Self.fields(try await browser.get("\(path)/edit").text)
            form["f.title"] = "Caf\u{e9}"
            #expect(try await browser.send(path, form, token: nil).status == 303)
            #expect(try await browser.get(path).text.contains("Saved."))
            #expect(try await Self.title(fixture).utf8.elementsEqual("Caf\u{e9}".utf8))
        }
    }

    @Test("text with line endings that forms don't send stays unchanged unless somebody edits it")
    func lineEnds() async throws {
        try await Self.withForm { fixture, browser, path, _ in
            for text in ["one\rtwo", "one\r\ntwo\rthree", "\r", "one\n\rtwo"] {
                try await fixture.rows().set("Session", fixture.sessions[0], "title", .string(text))
                var form = Self.fields(try await browser.get("\(path)/edit").text)
                let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
                form["f.title"] = lines.replacing("\n", with: "\r\n")
                #expect(try await browser.send(path, form, token: nil).status == 303)
                #expect(try await Self.title(fixture).utf8.elementsEqual(text.utf8), "\(text.debugDescription)")
            }
            var form = Self.fields(try await browser.get("\(path)/edit").text)
            form["f.title"] = "one\r\n\r\nthree"
            #expect(try await browser.send(path, form, token: nil).status == 303)
            #expect(try await Self.title(fixture) == "one\n\nthree")
        }
    }

    @Test("an invalid value is reported beside its field, and nothing in the form is lost or saved")
    func mistakes() async throws {
        try await Self.withForm { fixture, browser, path, form in
            var form = form
            form["f.title"] = "Another title"
            form["f.startsAt"] = "yesterday"
            form["f.room"] = "\(ObjectId.generate())"
            let answer = try await browser.send(path, form, token: nil)
            #expect(answer.status == 422)
            #expect(answer.text.contains(#"id="w-f-startsAt""#) && answer.text.contains(#"aria-invalid="true""#))
            #expect(answer.text.contains(##"href="#f-startsAt""##))
            #expect(answer.text.contains(#"value="Another title""#) && answer.text.contains(#"value="yesterday""#))
            #expect(try await Self.title(fixture) == "Talk 1")
        }
    }

    @Test("when two users edit at once, the second sees the old, current and wanted values, and chooses")
    func conflict() async throws {
        try await Self.withForm { fixture, browser, path, form in
            try await fixture.rows().set("Session", fixture.sessions[0], "title", "Theirs <i>")
            try await fixture.rows().set("Session", fixture.sessions[0], "state", "rejected")
            var mine = form
            mine["f.title"] = "Mine"
            let answer = try await browser.send(path, mine, token: nil)
            #expect(answer.status == 412)
            for text in ["Before: Talk 1", "Current value: Theirs &lt;i&gt;", "Your value: Mine", "changed by both"] {
                #expect(answer.text.contains(text), "\(text)")
            }
            #expect(try await Self.title(fixture) == "Theirs <i>")
            // The other user's non-conflicting change is kept automatically; the conflict needs a choice.
            var choice = Self.fields(answer.text)
            #expect(choice["f.state"] == "rejected" && choice["f.title"] == nil)
            choice["f.title"] = "Mine"
            #expect(try await browser.send(path, choice, token: nil).status == 303)
            #expect(try await Self.title(fixture) == "Mine")
            let state = try await fixture.pool.query(
                "SELECT state FROM session WHERE _id = $1", [.objectId(fixture.sessions[0])])[0, 0].string
            #expect(state == "rejected")
        }
    }

    @Test("an object is created, trashed with what belongs to it, and restored")
    func wholeLife() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let page = try await browser.get("/panel/new/tracks?f.event=\(fixture.event)")
                #expect(page.status == 200)
                var form = Self.fields(page.text)
                #expect(form["f.event"] == "\(fixture.event)")
                form["f.name"] = "Track of tests"
                let made = try await browser.send("/panel/new/tracks", form, token: nil)
                let path = try #require(made.headers[.location], "\(made.text)")
                let missing = try await browser.send("/panel/new/tracks", ["_token": form["_token"] ?? ""], token: nil)
                #expect(missing.status == 422 && missing.text.contains("required"))

                let session = "/panel/data/sessions/\(fixture.sessions[0])"
                let confirm = try await browser.get("\(session)/delete")
                #expect(confirm.status == 200 && confirm.text.contains("goes into the trash"))
                #expect(try await browser.get(session).status == 200)
                let gone = try await browser.send("\(session)/delete", Self.fields(confirm.text), token: nil)
                #expect(gone.status == 303)
                #expect(try await browser.get(session).status == 404)
                let list = try await browser.get("/panel/data/sessions")
                #expect(list.status == 200)
                #expect(try await browser.get(path).status == 200)
            }
        }
    }

    @Test("the notice after a removal can restore the object")
    func undo() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let session = "/panel/data/sessions/\(fixture.sessions[0])"
                let confirm = try await browser.get("\(session)/delete")
                try await browser.send("\(session)/delete", Self.fields(confirm.text), token: nil)
                let list = try await browser.get("/panel/data/sessions").text
                #expect(list.contains("Talk 1 was moved to the trash.") && list.contains(">Restore<"))
                let group = try #require(list.firstMatch(of: /name="group" value="([^"]+)"/)).1
                let back = try await browser.post("/panel/restore", ["group": String(group), "next": session])
                #expect(back.status == 303 && back.headers[.location] == session, "\(back.text)")
                #expect(try await browser.get(session).text.contains("Talk 1"))
            }
        }
    }

    @Test("a record that changed after the page asked for confirmation isn't removed")
    func removalOfAnotherVersion() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let session = "/panel/data/sessions/\(fixture.sessions[0])"
                let confirm = try await browser.get("\(session)/delete")
                try await fixture.rows().set("Session", fixture.sessions[0], "title", "Changed")
                let answer = try await browser.send("\(session)/delete", Self.fields(confirm.text), token: nil)
                #expect(answer.status == 412 && answer.text.contains("so it wasn&#39;t removed"))
                #expect(try await browser.get(session).status == 200)
            }
        }
    }

    @Test("a form with many link targets has a search, which keeps what was entered")
    func chooser() async throws {
        try await Self.withForm { fixture, browser, path, form in
            for number in 0...RecordReader.choiceCount {
                try await fixture.rows().insert(
                    "Microlocation",
                    ["event": .objectId(fixture.event), "isPublic": .bool(true), "name": .string("Room <\(number)>")])
            }
            let page = try await browser.get("\(path)/edit").text
            #expect(page.contains("Search Microlocations") && !page.contains("Room &lt;7&gt;"))
            var entered = Self.fields(page)
            entered["f.title"] = "Not saved yet"
            entered["q.room"] = "room <7"
            entered["_find"] = "room"
            let found = try await browser.send(path, entered, token: nil)
            #expect(found.status == 200 && found.text.contains("Room &lt;7&gt;"))
            #expect(!found.text.contains("Room &lt;8&gt;") && found.text.contains("Main Hall"))
            #expect(found.text.contains(#"value="Not saved yet""#))
            #expect(try await Self.title(fixture) == "Talk 1")
            let option = try #require(found.text.firstMatch(of: /<option value="([0-9a-f]{24})">Room &lt;7&gt;/)).1
            var choice = Self.fields(found.text)
            choice["f.room"] = String(option)
            #expect(try await browser.send(path, choice, token: nil).status == 303)
            #expect(try await browser.get(path).text.contains("Room &lt;7&gt;"))
            #expect(try await Self.title(fixture) == "Not saved yet")
        }
    }

    @Test("hostile forms are refused, and nothing from them is saved")
    func hostileForms() async throws {
        try await Self.withForm { fixture, browser, path, form in
            let token = form["_token"] ?? ""
            let headers: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            for (body, status) in [
                ("_token=\(token)&f.title=%ff", 400), ("_token=\(token)&f.title=%00", 400), ("f.title=x", 403),
                ("_token=\(token)&" + String(repeating: "a=b&", count: 3_000), 400),
                ("_token=\(token)&f.title=" + String(repeating: "x", count: EditPage.maximumFormByteCount), 413),
            ] {
                let answer = try await browser.call(.post, path, body: body, headers: headers)
                #expect(answer.status == status, "\(body.prefix(80))")
            }
            var forged = form
            forged["_version"] = "nonsense\""
            forged["was.title"] = "[[[["
            forged["f.title"] = "Forged"
            #expect(try await browser.send(path, forged, token: nil).status == 412)
            #expect(try await Self.title(fixture) == "Talk 1")
        }
    }

    @Test("what the rules refuse is refused with their reason, and other users' records don't exist")
    func secondUser() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let stranger = try await PanelBrowser.loggedIn(client, as: "stranger")
                let form = Self.fields(
                    try await stranger.get("/panel/data/sessions/\(fixture.draftSession)/edit").text)
                for role in ["organizer", "attendee", "registrar"] {
                    let browser = try await PanelBrowser.loggedIn(client, as: role)
                    let draft = "/panel/data/sessions/\(fixture.draftSession)"
                    for path in [draft, "\(draft)/edit", "\(draft)/delete", "/panel/data/events/\(fixture.draft)"] {
                        let answer = try await browser.get(path)
                        #expect([403, 404].contains(answer.status), "\(role) \(path)")
                        #expect(!answer.text.contains("Secret"))
                    }
                    var forged = form
                    forged["f.title"] = "Taken"
                    forged["_token"] = try await browser.formToken()
                    for path in [draft, "\(draft)/delete"] {
                        let answer = try await browser.send(path, forged, token: nil)
                        #expect([403, 404].contains(answer.status))
                    }
                    // A chooser offers nothing that its reader may not see.
                    let new = try await browser.get("/panel/new/tracks")
                    #expect(!new.text.contains("Secret Days") && !new.text.contains("\(fixture.draft)"))
                }
                let title = try await fixture.pool.query(
                    "SELECT title FROM session WHERE _id = $1", [.objectId(fixture.draftSession)])[0, 0].string
                #expect(title == "Secret talk")
            }
        }
    }

    @Test("an irreversible action asks for the password again, and then happens once")
    func password() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let assignment = try await fixture.pool.query(
                    "SELECT encode(_id, 'hex') FROM role_assignment WHERE role = 'registrar'")[0, 0].string
                let path = "/panel/data/role_assignments/\(assignment)"
                let confirm = try await browser.get("\(path)/delete")
                try #require(confirm.status == 200)
                guard confirm.text.contains("deleted permanently") else { return }
                try await PanelBrowser.ageProofs(fixture.pool)
                let asked = try await browser.send("\(path)/delete", Self.fields(confirm.text), token: nil)
                #expect(asked.status == 403 && asked.text.contains(#"name="_password""#))
                #expect(try await browser.get(path).status == 200)
                var form = Self.fields(asked.text)
                form["_password"] = "wrong"
                let wrong = try await browser.send("\(path)/delete", form, token: nil)
                #expect(wrong.status == 403)
                form = Self.fields(wrong.text)
                #expect(form["_password"] == "")
                form["_password"] = ServiceFixture.password
                let done = try await browser.send("\(path)/delete", form, token: nil)
                #expect(done.status == 303, "\(done.text)")
                #expect(try await browser.get(path).status == 404)
            }
        }
    }
}
