import Mustache
import Synchronization
import TomboloLocalization

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
///
/// Its own texts are English, and are translated by the catalogue of what is rendered: see ``TemplateTexts``.
final class PanelTemplate: Sendable {
    private let source: String
    private let english: MustacheTemplate
    /// Whether it has texts: `described` is attributes.
    private let hasTexts: Bool
    /// By catalogue, which live as long as the server.
    private let translations = Mutex<[ObjectIdentifier: MustacheTemplate]>([:])

    /// Templates that others include by name.
    private static let partials: [String: PanelTemplate] = [
        "form-token": PanelTemplate(PackageResources.form_token_mustache),
        "control": PanelTemplate(PackageResources.control_mustache),
        "new-password": PanelTemplate(PackageResources.new_password_mustache),
        "place": PanelTemplate(PackageResources.place_mustache),
        "described": PanelTemplate(PackageResources.described_mustache, hasTexts: false),
        "problems": PanelTemplate(PackageResources.problems_mustache),
    ]
    private static let library = MustacheLibrary(templates: partials.mapValues(\.english))
    private static let libraries = Mutex<[ObjectIdentifier: MustacheLibrary]>([:])

    /// - Parameter bytes: of a file that is part of this program. One that can't be parsed ends it, and a test.
    init(_ bytes: [UInt8], hasTexts: Bool = true) {
        self.hasTexts = hasTexts
        source = String(decoding: bytes, as: UTF8.self)
        english = Self.parse(source)
    }

    private static func parse(_ source: String) -> MustacheTemplate {
        _ = PanelEscaping.registered
        do {
            return try MustacheTemplate(string: "{{% CONTENT_TYPE:\(PanelEscaping.name)}}" + source)
        } catch {
            fatalError("A template of the panel can't be parsed: \(error)")
        }
    }

    private func template(in catalogue: MessageCatalogue) -> MustacheTemplate {
        guard hasTexts else { return english }
        let id = ObjectIdentifier(catalogue)
        if let found = translations.withLock({ $0[id] }) { return found }
        let made = Self.parse(TemplateTexts.translated(source) { catalogue.translation(of: $0) })
        translations.withLock { $0[id] = made }
        return made
    }

    private static func library(in catalogue: MessageCatalogue) -> MustacheLibrary {
        let id = ObjectIdentifier(catalogue)
        if let found = libraries.withLock({ $0[id] }) { return found }
        let made = MustacheLibrary(templates: partials.mapValues { $0.template(in: catalogue) })
        libraries.withLock { $0[id] = made }
        return made
    }

    func render(_ values: [String: Any]) -> PanelHTML {
        guard let catalogue = MessageCatalogue.current else {
            return PanelHTML(english.render(values, library: Self.library))
        }
        return PanelHTML(template(in: catalogue).render(values, library: Self.library(in: catalogue)))
    }
}
