import ServiceTestSupport
import Testing
import TomboloHTTP

/// Reasons that come from below the panel are in the page's language too.
@Suite struct RefusalLanguageTests {
    private static func inGerman(_ browser: PanelBrowser) -> PanelBrowser {
        browser.setCookie("tombolo_language", "de")
        return browser
    }

    @Test("why the rules refuse something is in the page's language")
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

    @Test("what would have to change for a permission is in the page's language")
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
}
