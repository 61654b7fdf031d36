import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloServerModel

/// Refusals from layers below the panel are in the page's language too.
@Suite struct RefusalLanguageTests {
    private static func inGerman(_ browser: PanelBrowser) -> PanelBrowser {
        browser.setCookie("tombolo_language", "de")
        return browser
    }

    @Test("the reason why the rules refuse something is in the page's language")
    func refusal() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = Self.inGerman(try await PanelBrowser.loggedIn(client, as: "attendee"))
                let page = try await browser.get("/panel/data/sessions/\(fixture.sessions[0])/edit")
                #expect(page.status == 403, "\(page.text)")
                let reason = "Nicht erlaubt: Session ändern, denn keine Regel der Rolle „"
                #expect(page.text.contains(reason), "\(page.text)")
                browser.setCookie("tombolo_language", "en")
                let english = try await browser.get("/panel/data/sessions/\(fixture.sessions[0])/edit").text
                #expect(english.contains("Not permitted to update this Session: no rule of the role "), "\(english)")
            }
        }
    }

    @Test("the explanation of what a permission would take is in the page's language")
    func why() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = Self.inGerman(try await PanelBrowser.loggedIn(client, as: "superAdmin"))
                let why = "/panel/permissions/why?class=Session"
                let attendee = try await browser.get("\(why)&user=\(ServiceFixture.email("attendee"))").text
                #expect(attendee.contains(", aber es ist leer</li>"), "\(attendee)")
                #expect(!attendee.contains("but it is"), "\(attendee)")
                let nobody = try await browser.get(why).text
                #expect(nobody.contains("<li>eine Anmeldung</li>"), "\(nobody)")
            }
        }
    }

    @Test("problems in a form and in a list's address are in the page's language")
    func mistakes() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = Self.inGerman(try await PanelBrowser.loggedIn(client, as: "owner"))
                let path = "/panel/data/sessions/\(fixture.sessions[0])"
                var form = PanelRecordTests.fields(try await browser.get("\(path)/edit").text)
                form["f.startsAt"] = "yesterday"
                let answer = try await browser.send(path, form, token: nil)
                #expect(answer.status == 422 && answer.text.contains("ein Datum mit Uhrzeit wie "), "\(answer.text)")
                #expect(!answer.text.contains("a date and time"), "\(answer.text)")
                let list = try await browser.get("/panel/data/sessions?filter%5Bnothing%5D=1")
                #expect(list.status == 400 && list.text.contains("Der Parameter „filter[nothing]“: "), "\(list.text)")
                #expect(!list.text.contains("supported here"), "\(list.text)")
            }
        }
    }

    @Test("the reason why a role can't have a name is in the page's language")
    func role() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = Self.inGerman(try await PanelBrowser.loggedIn(client, as: "superAdmin"))
                let version = fixture.adminModels.current.ruleVersions["conference"] ?? 0
                let wish = ["name": "matrix", "reach": "within", "version": "\(version)"]
                let answer = try await browser.post("/panel/permissions/roles/new?app=conference", wish)
                let reason = "Eine Rolle kann nicht „matrix“ heißen: Der Name bedeutet etwas anderes."
                #expect(answer.status == 422 && answer.text.contains(reason), "\(answer.text)")
            }
        }
    }

    @Test("problems with a class to be added are in the page's language")
    func model() async throws {
        try await ModelChangePagesTests.with { _, _, client in
            let browser = Self.inGerman(try await PanelBrowser.loggedIn(client, as: "superAdmin"))
            let path = ModelChangePagesTests.path
            let form = try ModelChangePagesTests.form(try await browser.get(path).text)
            let wish = ["wish": "addClass", "className": "1 boat"]
            let answer = try await browser.post("\(path)/edit", form.merging(wish) { $1 })
            #expect(answer.status == 422 && answer.text.contains("„1 boat“ ist kein Name in Swift."), "\(answer.text)")
        }
    }
}
