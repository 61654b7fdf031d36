import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct PanelComfortTests {
    @Test(
        "a copy starts with everything that its reader can see, including lists of links, and leaves the original unchanged"
    )
    func duplicating() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let original = fixture.sessions[0].stringValue
                let record = try await browser.get("/panel/data/sessions/\(original)").text
                #expect(record.contains("/panel/new/sessions?copy=\(original)"))
                let form = try await browser.get("/panel/new/sessions?copy=\(original)")
                #expect(form.status == 200 && form.text.contains(#"value="Talk 1""#), "\(form.text)")
                let speakers = #"name="f.speakers.1""#
                #expect(form.text.contains(speakers) && !form.text.contains(#"name="was."#))
                let made = try await browser.submit(
                    "/panel/new/sessions",
                    PanelBrowser.hidden(form.text) + [
                        ("f.title", "Talk 1, again"), ("f.state", "accepted"), ("f.event", fixture.event.stringValue),
                    ])
                let path = try #require(made.headers[.location], "\(made.text)")
                #expect(made.status == 303 && !path.contains(original))
                let copy = try await browser.get(path).text
                #expect(copy.contains("Talk 1, again") && copy.contains("Ada") && copy.contains("Grace"), "\(copy)")
                #expect(try await browser.get("/panel/data/sessions?q=talk%201").text.contains("of 2"))

                // Nobody can copy what they can't see, and the copied values in a form are validated like any others.
                #expect(try await browser.get("/panel/new/sessions?copy=\(fixture.draftSession)").status == 404)
                #expect(try await browser.get("/panel/new/sessions?copy=%3Cscript%3E").status == 404)
                for hidden in ["\"x\"", "[{}]", "{\"a\":1}", "<"] {
                    let answer = try await browser.submit(
                        "/panel/new/sessions",
                        [("f.title", "x"), ("f.event", fixture.event.stringValue), ("copy.speakers", hidden)])
                    #expect(answer.status == 422 || answer.status == 303, "\(hidden): \(answer.text)")
                }
            }
        }
    }

    @Test("a record shows the objects that belong to it, as far as its reader can see them, with a link for adding one")
    func children() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let event = try await browser.get("/panel/data/events/\(fixture.event)").text
                for text in ["Talk 1", "Talk 3", "Early", "Main Hall", "New session"] {
                    #expect(event.contains(text), "\(text)")
                }
                #expect(event.contains("/panel/new/sessions?f.event=\(fixture.event)"))
                let form = try await browser.get("/panel/new/role_assignments").text
                #expect(form.contains(#"<option value="organizer">organizer</option>"#), "\(form)")
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                #expect(!(try await admin.get("/panel/data/events/\(fixture.event)").text.contains("Talk 3")))
            }
        }
    }

    @Test("each browser chooses one of the three colour themes, and nothing else")
    func theme() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "attendee")
                #expect(!(try await browser.get("/panel/help").text.contains("data-theme=")))
                let chosen = try await browser.post("/panel/theme", ["theme": "dark", "next": "/panel/help?x=1"])
                #expect(chosen.status == 303 && chosen.headers[.location] == "/panel/help?x=1")
                let dark = try await browser.get("/panel/help").text
                #expect(dark.contains(#"<html lang="en" data-theme="dark">"#))
                #expect(dark.contains(#"<option value="dark" selected>"#))
                let foreign = try await browser.post(
                    "/panel/theme", ["theme": "light", "next": "https://evil.example"])
                #expect(foreign.headers[.location] == "/panel")
                #expect(try await browser.post("/panel/theme", ["theme": "\"><script>"]).status == 400)
                browser.setCookie("tombolo_theme", "\"onload=x")
                #expect(!(try await browser.get("/panel/help").text.contains("data-theme=")))
                try await browser.post("/panel/theme", ["theme": "system"])
                #expect(browser.cookie("tombolo_theme") == nil)
            }
        }
    }

    @Test("unknown addresses in the panel give a 'not found' page")
    func nothing() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                for path in ["/panel/nothing", "/panel/jobs/1/nothing", "/panel/data"] {
                    let answer = try await browser.get(path)
                    #expect(answer.status == 404 && !answer.text.contains("DELETE"), "\(path): \(answer.text)")
                }
                let wrong = try await browser.get("/panel/logout")
                #expect(wrong.status == 405 && wrong.headers[.allow] == "POST", "\(wrong.text)")
            }
        }
    }
}
