import Mustache

/// HTML in which everything from outside is escaped. Only a ``PanelTemplate`` makes it, and ``MarkdownHTML`` of texts.
struct PanelHTML: MustacheCustomRenderable, Sendable {
    let text: String

    fileprivate init(_ text: String) { self.text = text }

    /// A text in Markdown, formatted; nil if it's too long for that.
    /// - Parameter firstHeading: the level that its highest headings get, below the heading before it on the page.
    init?(markdown: String, firstHeading: Int) {
        guard markdown.utf8.count <= MarkdownHTML.maximumByteCount else { return nil }
        text = MarkdownHTML(markdown, firstHeading: firstHeading).text
    }

    var renderText: String { text }
    var isNull: Bool { text.isEmpty }
}

/// A file of `Templates`. What stands in double braces is escaped; triple braces are for names that end with `HTML`, whose
/// values are ``PanelHTML``. The values of a template are dictionaries, lists, texts, numbers and truth values.
struct PanelTemplate: Sendable {
    private let template: MustacheTemplate

    /// Templates that others include by name.
    private static let library = MustacheLibrary(templates: [
        "form-token": parse(PackageResources.form_token_mustache),
        "control": parse(PackageResources.control_mustache),
        "new-password": parse(PackageResources.new_password_mustache),
        "place": parse(PackageResources.place_mustache),
        "described": parse(PackageResources.described_mustache),
        "problems": parse(PackageResources.problems_mustache),
    ])

    /// - Parameter bytes: of a file that is part of this program. One that can't be parsed ends it, and a test.
    init(_ bytes: [UInt8]) { template = Self.parse(bytes) }

    private static func parse(_ bytes: [UInt8]) -> MustacheTemplate {
        _ = PanelEscaping.registered
        do {
            return try MustacheTemplate(
                string: "{{% CONTENT_TYPE:\(PanelEscaping.name)}}" + String(decoding: bytes, as: UTF8.self))
        } catch {
            fatalError("A template of the panel can't be parsed: \(error)")
        }
    }

    func render(_ values: [String: Any]) -> PanelHTML {
        PanelHTML(template.render(values, library: Self.library))
    }
}
