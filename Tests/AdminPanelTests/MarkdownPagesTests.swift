import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMarkdown
import TomboloModel

@testable import AdminPanel

/// Markdown text on record pages, in forms and in previews.
@Suite struct MarkdownPagesTests {
    private static func run(
        as role: String = "owner", _ body: @Sendable (_ fixture: ServiceFixture, PanelBrowser) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                try await body(fixture, try await PanelBrowser.loggedIn(client, as: role))
            }
        }
    }

    @Test("a record's page shows it formatted; lists, forms and the API show the source text")
    func record() async throws {
        try await Self.run { fixture, browser in
            let text = "# Plan\n\nBring a **laptop**, see [the site](https://example.org).\n\n<script>alert(1)</script>"
            try await fixture.rows().set("Session", fixture.sessions[0], "longAbstract", .string(text))
            // The same text in a property that isn't Markdown.
            try await fixture.rows().set("Session", fixture.sessions[0], "level", "**easy**")
            let path = "/panel/data/sessions/\(fixture.sessions[0])"
            let page = try await browser.get(path).text
            #expect(page.contains("<h3>Plan</h3>") && page.contains("<strong>laptop</strong>"), "\(page)")
            #expect(page.contains(#"<a href="https://example.org" rel="noopener nofollow">the site</a>"#))
            #expect(page.contains("&lt;script&gt;alert(1)") && !page.contains("<script>alert"))
            #expect(page.contains("**easy**"))
            let list = try await browser.get("/panel/data/sessions?columns=title,longAbstract").text
            #expect(list.contains("# Plan") && list.contains("**laptop**"), "\(list)")
            let form = try await browser.get("\(path)/edit").text
            #expect(PanelRecordTests.fields(form)["f.longAbstract"] == text)
            #expect(
                form.contains(
                    #"<textarea id="f-longAbstract" name="f.longAbstract" rows="6" data-markdown="Long abstract""#))
            // Even an empty Markdown property has a multi-line field; other text has a single line.
            #expect(form.contains(#"data-markdown="Short abstract""#) && form.contains(#"<input id="f-level""#))
            let rows = try await browser.get("/panel/rows/sessions?columns=title,longAbstract,shortAbstract").text
            #expect(rows.contains("**laptop**") && !rows.contains("data-markdown"), "\(rows)")
        }
    }

    @Test("an untouched form leaves line endings and trailing spaces as they are")
    func untouched() async throws {
        try await Self.run { fixture, browser in
            let text = "one  \ntwo\n\n- three \n"
            try await fixture.rows().set("Session", fixture.sessions[0], "longAbstract", .string(text))
            let path = "/panel/data/sessions/\(fixture.sessions[0])"
            var form = PanelRecordTests.fields(try await browser.get("\(path)/edit").text)
            form["f.title"] = "Another title"
            form["f.longAbstract"] = form["f.longAbstract"]?.replacing("\n", with: "\r\n")
            #expect(try await browser.send(path, form, token: nil).status == 303)
            let stored = try await fixture.pool.query(
                "SELECT title, long_abstract FROM session WHERE _id = $1", [.objectId(fixture.sessions[0])])
            let (title, abstract) = try (stored[0, 0].string, stored[0, 1].string)
            #expect(title == "Another title" && abstract == text)
        }
    }

    @Test("text too long to be formatted is shown as it is")
    func long() async throws {
        try await Self.run { fixture, browser in
            let text = "**a** " + String(repeating: "b", count: MarkdownHTML.maximumByteCount)
            try await fixture.rows().set("Session", fixture.sessions[0], "longAbstract", .string(text))
            let page = try await browser.get("/panel/data/sessions/\(fixture.sessions[0])").text
            #expect(page.contains("**a** bbb"))
        }
    }

    @Test("previews work only for logged-in users, from the panel's own forms, and up to a maximum length")
    func preview() async throws {
        try await Self.run(as: "attendee") { _, browser in
            let answer = try await browser.post(MarkdownPages.path, [MarkdownPages.field: "# a\r\n*b* <i>"])
            #expect(
                answer.status == 200 && answer.text == "<h2>a</h2>\n<p><em>b</em> &lt;i&gt;</p>\n", "\(answer.text)")
            #expect(answer.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            #expect(try await browser.post(MarkdownPages.path, [MarkdownPages.field: ""]).text == "")
            #expect(try await browser.post(MarkdownPages.path).status == 400)
            let fields = [MarkdownPages.field: "a"]
            #expect(try await browser.send(MarkdownPages.path, fields, token: nil).status == 403)
            #expect(try await browser.send(MarkdownPages.path, fields, token: "x").status == 403)
            let most = String(repeating: "%", count: MarkdownHTML.maximumByteCount)
            #expect(try await browser.post(MarkdownPages.path, [MarkdownPages.field: most]).status == 200)
            #expect(try await browser.post(MarkdownPages.path, [MarkdownPages.field: most + "a"]).status == 413)
            #expect(try await browser.post(MarkdownPages.path, [MarkdownPages.field: most + most]).status == 413)
            let stranger = PanelBrowser(browser.client)
            let refused = try await stranger.send(MarkdownPages.path, fields, token: "x")
            #expect(refused.status != 200 && !refused.text.contains("<p>a</p>"))
        }
    }
}
