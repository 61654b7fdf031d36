import AdminService
import Foundation
import HTTPTypes
import ServiceTestSupport
import TestSupport
import Testing
import TomboloHTTP
import TomboloModel

/// A mail is in the language of the page that caused it.
@Suite struct MailLanguagePagesTests {
    private static func forgot(_ browser: PanelBrowser, _ headers: HTTPFields = [:]) async throws {
        var headers = headers
        headers[.origin] = "http://localhost"
        let sent = try await browser.send(
            "/panel/forgotten", ["email": ServiceFixture.email("owner")], token: nil, headers: headers)
        #expect(sent.status == 200, "\(sent.text)")
    }

    @Test("the mail about a forgotten password is in the page's language, including English if that was chosen")
    func forgotten() async throws {
        try await MailingPanel.with { _, browser, folder in
            try await Self.forgot(browser, [.acceptLanguage: "de"])
            let german = try await folder.mails(1)[0]
            #expect(german.contains("legen Sie es innerhalb von 30 Minuten fest"), "\(german)")
            #expect(german.contains("\nContent-Language: de\n"))
            browser.setCookie("tombolo_language", "en")
            try await Self.forgot(browser, [.acceptLanguage: "de"])
            #expect(try await folder.mails(2)[1].contains("set it within 30 minutes"))
            browser.setCookie("tombolo_language", "fr")
            try await Self.forgot(browser, [.acceptLanguage: "de"])
            #expect(try await folder.mails(3)[2].contains("définissez-le dans les 30"))
            // The notice of the new password is in the language of the page where it was set.
            let link = try #require(MailingPanel.link(in: try await folder.mails(3)[2]))
            browser.setCookie("tombolo_language", "es")
            var fields = Dictionary(uniqueKeysWithValues: PanelBrowser.hidden(try await browser.get(link).text))
            fields["password"] = "battery staple"
            fields["again"] = "battery staple"
            let done = try await browser.send(
                "/panel/forgotten/reset", fields, token: nil, headers: [.origin: "http://localhost"])
            #expect(done.status == 200, "\(done.text)")
            let notice = try await folder.mails(4)[3]
            #expect(notice.contains("Subject: =?utf-8?Q?Se_cambi=C3=B3_su_contrase=C3=B1a?="), "\(notice)")
        }
    }

    @Test(
        "added or invited people get mail in the language of the inviting page; through the API, in that of Accept-Language"
    )
    func others() async throws {
        try await MailingPanel.with { fixture, browser, folder in
            let admin = try await PanelBrowser.loggedIn(browser.client, as: "superAdmin")
            admin.setCookie("tombolo_language", "de")
            let added = try await admin.post("/panel/accounts/new", ["email": "new@example.org", "name": "New Person"])
            #expect(added.status == 303, "\(added.text)")
            #expect(try await folder.mails(1)[0].contains("Subject: =?utf-8?Q?Ein_Konto_f=C3=BCr_Sie?="))
            let owner = try await PanelBrowser.loggedIn(browser.client, as: "owner")
            let fields = [
                "class": "RoleAssignment", "scope": fixture.event.stringValue, "role": "organizer",
                "email": ServiceFixture.email("attendee"),
            ]
            let invited = try await owner.post("/panel/people/invite", fields, headers: [.acceptLanguage: "fr"])
            #expect(invited.status == 303, "\(invited.text)")
            let french = try await folder.mails(2)[1]
            #expect(french.contains("\nSubject: Vous avez une invitation\n"), "\(french)")
            #expect(french.contains("vous propose le rôle organizer."), "\(french)")
            let call = Caller(browser.client, fixture)
            let body = #"{"email": "other@example.org", "role": "moderator", "scope": "\#(fixture.event)"}"#
            let sent = try await call(
                .post, "/invitations", as: "owner", body: body, headers: [.acceptLanguage: "es-MX"])
            #expect(sent.status == 201 && sent.json["isMailed"] == true, "\(sent.text)")
            #expect(try await folder.mails(3)[2].contains("le invita a asumir el rol moderator."))
        }
    }
}
