import Foundation
import Testing

@testable import AdminPanel

@Suite struct PanelTemplateTests {
    private static let packages = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Packages")
    private static let folder = packages.appending(path: "Server/AdminPanel")

    @Test("no template leaves a value unescaped, and none has a script, style or handler of its own")
    func templates() throws {
        let files = try [Self.folder, Self.packages.appending(path: "Conference/ConferencePanel")].flatMap {
            try FileManager.default.contentsOfDirectory(
                at: $0.appending(path: "Templates"), includingPropertiesForKeys: nil)
        }
        #expect(files.count > 8)
        for file in files where file.pathExtension == "mustache" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /\{\{\{\s*([^}]*?)\s*\}\}\}/) {
                #expect(match.1.hasSuffix("HTML"), "\(file.lastPathComponent) leaves '\(match.1)' unescaped.")
            }
            #expect(!text.contains("{{&"), "\(file.lastPathComponent)")
            #expect(!text.contains(/<script(?! src=)|\sstyle=|\son[a-z]+=|javascript:/), "\(file.lastPathComponent)")
            // Any form that may change something has the session's token, except the forms for people without a session.
            let isOpen = [
                "login.mustache", "invitation.mustache", "password_forgotten.mustache", "password_reset.mustache",
            ].contains(file.lastPathComponent)
            for match in text.matches(of: /<form[^>]*method="post".*?<\/form>/.dotMatchesNewlines()) {
                #expect(match.0.contains("{{> form-token}}") != isOpen, "\(file.lastPathComponent)")
            }
        }
    }

    @Test(
        "only the output of templates is shown unescaped, whatever an app's template has in braces",
        arguments: [
            "{{text}}", "{{{text}}}", "{{& text}}", "{{&text}}", "{{{ text }}}", "{{{uppercased(text)}}}", "{{{}}}",
            "{{{.}}}", "{{{inner.text}}}", "{{#inner}}{{{text}}}{{/inner}}", "{{#list}}{{{.}}}{{/list}}",
            "{{{first(list)}}}", "{{{inner}}}", "{{{list}}}",
        ])
    func unescaped(text: String) {
        let mark = "<b>"
        let html = PanelTemplate(text).render(["text": mark, "inner": ["text": mark], "list": [mark]])
        #expect(!html.text.lowercased().contains(mark), "\(html.text)")
    }

    @Test("the output of a template is shown as it is")
    func nested() {
        let inner = PanelTemplate("<b>{{text}}</b>").render(["text": "<i>"])
        let outer = PanelTemplate("{{#innerHTML}}<p>{{{innerHTML}}}</p>{{/innerHTML}}{{{ innerHTML }}}{{&innerHTML}}")
        let once = "<b>&lt;i&gt;</b>"
        #expect(outer.render(["innerHTML": inner]).text == "<p>\(once)</p>\(once)\(once)")
        #expect(outer.render([:]).text.isEmpty)
    }

    @Test(
        "a template can't change delimiters or the content type, which would turn escaping off",
        arguments: ["{{=<% %>=}}<%{text}%>", "{{% CONTENT_TYPE:TEXT}}{{text}}", "{{{te xt}}}"])
    func unguarded(text: String) {
        #expect(throws: PanelTemplate.Unguarded.self) { try PanelTemplate.guarded(text) }
    }

    @Test("the script never makes markup from text")
    func script() throws {
        let text = try String(contentsOf: Self.folder.appending(path: "Assets/panel.js"), encoding: .utf8)
        for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
            #expect(!text.contains(word), "\(word)")
        }
    }

    @Test("inline elements that hold user text isolate its writing direction")
    func directions() throws {
        let text = try String(contentsOf: Self.folder.appending(path: "Assets/panel.css"), encoding: .utf8)
        #expect(text.contains("\na, label, small, span, strong { unicode-bidi: isolate; }\n"))
    }

    @Test("text colours have enough contrast in both themes")
    func contrast() throws {
        let text = try String(contentsOf: Self.folder.appending(path: "Assets/panel.css"), encoding: .utf8)
        let themes = text.matches(of: /:root(?:\[data-theme=[a-z]+\])? \{(.*?)\}/.dotMatchesNewlines()).map {
            String($0.1)
        }
        #expect(themes.count == 4)
        // Choosing a theme gives the same colours as the system's setting for it.
        func variables(_ theme: String) -> [String] {
            theme.matches(of: /--[a-z-]+: #[0-9a-f]{6}/).map { String($0.0) }
        }
        #expect(variables(themes[0]) == variables(themes[2]) && variables(themes[1]) == variables(themes[3]))
        for theme in themes {
            var colors: [String: Double] = [:]
            for match in theme.matches(of: /--([a-z-]+): #([0-9a-f]{6})/) {
                colors[String(match.1)] = Self.luminance(try #require(UInt32(match.2, radix: 16)))
            }
            let pairs = [
                ("text", "ground"), ("text", "raised"), ("text", "good"), ("text", "mark"), ("quiet", "ground"),
                ("quiet", "raised"), ("link", "ground"), ("link", "raised"), ("on-accent", "accent"),
                ("bad-text", "bad"), ("bad-text", "ground"),
            ]
            for (front, back) in pairs {
                let ratio = Self.ratio(try #require(colors[front]), try #require(colors[back]))
                #expect(ratio >= 4.5, "\(front) on \(back): \(ratio)")
            }
            for (front, back) in [
                ("edge", "ground"), ("accent", "ground"), ("good-line", "ground"), ("bad-line", "ground"),
            ] {
                let ratio = Self.ratio(try #require(colors[front]), try #require(colors[back]))
                #expect(ratio >= 3, "\(front) on \(back): \(ratio)")
            }
        }
    }

    /// https://www.w3.org/TR/WCAG22/#dfn-relative-luminance
    private static func luminance(_ color: UInt32) -> Double {
        func part(_ shift: UInt32) -> Double {
            let value = Double((color >> shift) & 255) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
    }

    private static func ratio(_ one: Double, _ other: Double) -> Double {
        (max(one, other) + 0.05) / (min(one, other) + 0.05)
    }
}
