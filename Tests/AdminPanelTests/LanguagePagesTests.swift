import AdminService
import Foundation
import HTTPTypes
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloServerModel

@testable import AdminPanel

@Suite struct LanguagePagesTests {
    private static func folder(_ files: [String: String]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "translations-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        return folder.path
    }

    @Test("pages are in the browser's preferred language, or in the chosen one")
    func choosing() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let english = try await browser.get("/panel/help").text
                #expect(english.contains(#"<html lang="en">"#) && english.contains(">Log out<"))
                let likes: HTTPFields = [.acceptLanguage: "fr-XX;q=0.1, de-AT;q=0.9, en;q=0.5"]
                let german = try await browser.get("/panel/help", headers: likes).text
                #expect(german.contains(#"<html lang="de">"#) && german.contains(">Abmelden<"), "\(german)")
                #expect(german.contains("Kopieren"), "\(german)")
                // The chosen language overrides the browser's preference.
                #expect(try await browser.post("/panel/theme", ["theme": "system", "language": "en"]).status == 303)
                #expect(try await browser.get("/panel/help", headers: likes).text.contains(#"<html lang="en">"#))
                #expect(try await browser.post("/panel/theme", ["theme": "system", "language": "de"]).status == 303)
                let chosen = try await browser.get("/panel/help").text
                #expect(chosen.contains(#"<html lang="de">"#))
                #expect(chosen.contains(#"<option value="de" lang="de" selected>Deutsch</option>"#), "\(chosen)")
                #expect(try await browser.post("/panel/theme", ["theme": "system", "language": "xx"]).status == 400)
                #expect(browser.cookie("tombolo_language") == "de")
                #expect(try await browser.post("/panel/theme", ["theme": "system", "language": ""]).status == 303)
                #expect(browser.cookie("tombolo_language") == nil)
                browser.setCookie("tombolo_language", "\"><script>")
                #expect(try await browser.get("/panel/help").text.contains(#"<html lang="en">"#))
                // A language that doesn't exist, or no longer does, is ignored.
                browser.setCookie("tombolo_language", "xx")
                #expect(try await browser.get("/panel/help", headers: likes).text.contains(#"<html lang="de">"#))
            }
        }
    }

    @Test("the log-in, failures and form messages are in that language too; the API stays in English")
    func everywhere() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = PanelBrowser(client)
                let likes: HTTPFields = [.acceptLanguage: "de"]
                #expect(try await browser.get("/panel/login", headers: likes).text.contains(">Passwort<"))
                try await browser.logIn(as: "superAdmin")
                browser.setCookie("tombolo_language", "de")
                let nothing = try await browser.get("/panel/nothing")
                #expect(nothing.status == 404 && nothing.text.contains("Nicht gefunden"), "\(nothing.text)")
                #expect(try await browser.get("/panel/data/sessions").text.contains("Suchen"))
                let missing = try await browser.get(
                    "/api/sessions", headers: [.acceptLanguage: "de", .accept: "application/json"])
                #expect(missing.status == 401 && !missing.text.contains("Melde"), "\(missing.text)")
            }
        }
    }

    @Test("an operator's folder adds languages, and names classes and properties")
    func folder() async throws {
        let folder = try Self.folder([
            "ar.po": """
            msgid ""
            msgstr "Language: ar\\nX-Language-Name: العربية\\nPlural-Forms: nplurals=1; plural=0;\\n"

            msgid "Log out"
            msgstr "تسجيل الخروج"
            """,
            "de.po": """
            msgid ""
            msgstr "Language: de\\n"

            msgctxt "name"
            msgid "Sessions"
            msgstr "Vorträge"

            msgid "Log out"
            msgstr "Tschüss"

            msgid "In minor units of the currency: 1050 is 10.50 EUR, and 1050 JPY."
            msgstr "In Cent, Rappen oder Öre"
            """,
        ])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await ServiceFixture.with { fixture in
            let panel = AdminPanel(
                rules: fixture.adminModels.liveRules(), pool: fixture.adminServer.pool,
                authenticator: fixture.adminServer.authenticator, models: fixture.adminModels,
                languages: try PanelLanguages(folder: folder))
            try await PanelBrowser.with(fixture, panel: panel) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let arabic = try await browser.get("/panel", headers: [.acceptLanguage: "ar"]).text
                #expect(arabic.contains(#"<html lang="ar" dir="rtl">"#) && arabic.contains("تسجيل الخروج"), "\(arabic)")
                // Texts missing from the file stay in English.
                #expect(arabic.contains(">Change password<"))
                let german = try await browser.get("/panel", headers: [.acceptLanguage: "de"]).text
                #expect(german.contains("Vorträge") && german.contains(">Tschüss<"), "\(german)")
                #expect(german.contains(">Passwort ändern<"))
                // The model's hint on a property is translated wherever it's shown.
                for path in ["/panel/new/tickets", "/panel/rows/tickets?columns=name,price", "/panel/api/tickets"] {
                    let page = try await browser.get(path, headers: [.acceptLanguage: "de"]).text
                    #expect(page.contains("In Cent, Rappen oder Öre"), "\(path)")
                }
            }
        }
    }

    @Test("a folder with an invalid file is refused, with all problems at once")
    func problems() throws {
        let folder = try Self.folder([
            "de.po": "msgid \"A\n", "fr.po": "msgid \"\"\nmsgstr \"X: y\\n\"\n", "notes.txt": "?",
        ])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let error = #expect(throws: ConfigurationError.self) { try PanelLanguages(folder: folder) }
        let text = error?.description ?? ""
        #expect(text.contains("de.po, line 1") && text.contains("fr.po") && text.contains("Language"), "\(text)")
        #expect(throws: ConfigurationError.self) { try PanelLanguages(folder: folder + "/none") }
        let empty = try Self.folder([:])
        defer { try? FileManager.default.removeItem(atPath: empty) }
        #expect(throws: ConfigurationError.self) { try PanelLanguages(folder: empty) }
    }
}
