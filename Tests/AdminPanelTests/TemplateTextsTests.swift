import Foundation
import Testing

@testable import AdminPanel

@Suite struct TemplateTextsTests {
    @Test(
        "texts in a template continue across values and tags within a sentence, and end at other tags",
        arguments: [
            ("<p>Plain</p>", ["Plain"]), ("<p> No {{plural}}\n match. </p>", ["No {{plural}} match."]),
            (
                "<p>No match. <a href=\"{{path}}\">Show all</a>, or <b>{{x}}</b>.</p>",
                ["No match. <1>Show all</1>, or <2>{{x}}</2>."]
            ),
            ("<a href=\"a\">One</a> <a href=\"b\">Two</a>", ["One", "Two"]),
            ("<p>Page {{page}}{{#pages}} of {{.}}{{/pages}}</p>", ["Page {{page}}", "of {{.}}"]),
            ("<p>{{value}} – {{{someHTML}}}</p>", []), ("<code>let</code> <pre>x <b>y</b></pre>", []),
            ("<p>Set <code>X</code> first.<br>Then go.</p>", ["Set <1>X</1> first.<2/>Then go."]),
            ("<input aria-label=\"Tick {{title}}\" name=\"Name\">", ["Tick {{title}}"]),
            ("<td data-label=\"{{#a}}One{{/a}}{{^a}}Two{{/a}}\">{{> control}}</td>", ["One", "Two"]),
            ("<a href=\"x\">From{{#x}}, to{{/x}}</a>", ["From", ", to"]),
            ("<p>&nbsp;&times; &#160;</p>", []),
            ("<p>a < b <b title=\"Tip\">c</b></p>", ["Tip", "a < b <1>c</1>"]),
        ] as [(String, [String])])
    func texts(template: String, texts: [String]) {
        #expect(TemplateTexts.all(in: template) == texts)
        // Without translations, the template is unchanged.
        #expect(TemplateTexts.translated(template) { _ in nil } == template)
    }

    @Test("a translation replaces its text, places tags and values where it needs them, and adds no markup")
    func translations() {
        func german(_ template: String, _ texts: [String: String]) -> String {
            TemplateTexts.translated(template) { texts[$0] }
        }
        let sentence = german(
            "<p>\n See <a href=\"{{p}}\">{{n}} rows</a> of <b>{{x}}</b>!</p>",
            ["See <1>{{n}} rows</1> of <2>{{x}}</2>!": "Von <2>{{x}}</2> <1>{{n}} & mehr <script></1>"])
        #expect(
            sentence
                == "<p>\n Von <b>{{x}}</b> <a href=\"{{p}}\">{{n}} &amp; mehr &lt;script&gt;</a></p>")
        #expect(
            german("<i title=\"Tip {{x}}\">{{y}}</i>", ["Tip {{x}}": "\"{{x}}\" &amp; <b>"])
                == "<i title=\"&quot;{{x}}&quot; &amp; &lt;b&gt;\">{{y}}</i>")
    }

    @Test("every template of the panel is unchanged without translations, however it's split into texts")
    func own() throws {
        let folder = MessageSources.root.appending(path: "Packages/Server/AdminPanel/Templates")
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(TemplateTexts.translated(text) { _ in nil } == text, "\(file.lastPathComponent)")
            for length in stride(from: 0, to: text.count, by: 97) {
                let part = String(text.prefix(length))
                #expect(TemplateTexts.translated(part) { _ in nil } == part, "\(file.lastPathComponent)")
            }
        }
    }
}
