import HTTPTypes
import HummingbirdTesting
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloLocalization

@testable import AdminPanel

/// Who may use a route, in the language of the page of routes.
@Suite struct RouteLanguageTests {
    @Test("each route's access is described in every language of the panel")
    func complete() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { app, _ in
                #expect(app.routes.count > 100)
                for catalogue in PanelLanguages.builtIn.catalogues {
                    let same = app.routes.filter { route in
                        MessageCatalogue.$current.withValue(catalogue) { route.access } == route.access
                    }
                    #expect(same.isEmpty, "\(catalogue.language.tag): \(same.map(\.description))")
                }
            }
        }
    }

    @Test(
        "the page of routes describes it in its own language, and the API in English",
        arguments: [
            (
                "de",
                [
                    "Objekte einer Klasse lesen<", "die Rechtematrix jeder App ändern<", "für sich selbst: Aufträge<",
                    "alle: verlangt ein Token aus einer E-Mail<",
                    "Objekte einer Klasse mit Papierkorb im Papierkorb ansehen und Objekte einer Klasse mit Papierkorb",
                ]
            ),
            ("fr", ["lire des objets d’une classe<", "tout le monde : exige un jeton envoyé par e-mail<"]),
            ("es", ["leer objetos de una clase<", "cambiar cuentas<"]),
        ])
    func page(_ language: String, _ texts: [String]) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                browser.setCookie("tombolo_language", language)
                let page = try await browser.get("/panel/permissions/routes").text
                for text in texts { #expect(page.contains(text), "\(text): \(page)") }
                let call = ServiceTestSupport.Caller(client, fixture)
                let lines = try await call(.get, "/admin/routes", as: "admin").json["routes"]?.list ?? []
                let access = lines.first { $0["path"] == "/panel/settings" }?["access"]?.text
                #expect(access == "update the permission matrix of every app")
            }
        }
    }

    @Test("a refusal names the missing permission in the page's words")
    func refusal() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "attendee")
                browser.setCookie("tombolo_language", "de")
                let refused = try await browser.get("/panel/documents")
                #expect(refused.status == 403, "\(refused.text)")
                #expect(refused.text.contains("das Recht „lesen“"), "\(refused.text)")
            }
        }
    }
}
