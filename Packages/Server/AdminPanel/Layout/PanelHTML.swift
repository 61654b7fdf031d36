public import Mustache
import Synchronization
import TomboloLocalization
import TomboloMarkdown

/// HTML in which everything from outside is escaped. Only a ``PanelTemplate`` makes it, and ``MarkdownHTML`` of texts.
public struct PanelHTML: MustacheCustomRenderable, MustacheTransformable, Sendable {
    /// What ``PanelTemplate`` has triple braces show: nothing but a `PanelHTML` can be transformed by it.
    static let transform = "html"

    let text: String

    fileprivate init(_ text: String) { self.text = text }

    /// A text in Markdown, formatted; nil if it's too long for that.
    /// - Parameter firstHeading: the level that its highest headings get, below the heading before it on the page.
    init?(markdown: String, firstHeading: Int) {
        guard markdown.utf8.count <= MarkdownHTML.maximumByteCount else { return nil }
        text = MarkdownHTML(markdown, firstHeading: firstHeading).text
    }

    public var renderText: String { text }
    public var isNull: Bool { text.isEmpty }
    public func transform(_ name: String) -> Any? { name == Self.transform ? self : nil }
}

/// A text in [Mustache](https://mustache.github.io), such as a file of `Templates`. What stands in double braces is escaped.
/// Triple braces show ``PanelHTML``, and nothing at all of any other value; they're for names that end with `HTML`. The values of
/// a template are dictionaries, lists, texts, numbers and truth values.
///
/// Templates include others by name: `{{> form-token}}` for every form, `{{> described}}` within a control's tag,
/// `{{> problems}}` within a list.
///
/// Its own texts are English, and are translated by the catalogue of what is rendered: see ``TemplateTexts``.
public final class PanelTemplate: Sendable {
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
        "described": PanelTemplate(
            String(decoding: PackageResources.described_mustache, as: UTF8.self), hasTexts: false),
        "problems": PanelTemplate(PackageResources.problems_mustache),
    ]
    private static let library = MustacheLibrary(templates: partials.mapValues(\.english))
    private static let libraries = Mutex<[ObjectIdentifier: MustacheLibrary]>([:])

    /// - Parameter bytes: of a file that is part of this program. One that can't be parsed ends it, and a test.
    public convenience init(_ bytes: [UInt8]) { self.init(String(decoding: bytes, as: UTF8.self), hasTexts: true) }

    /// - Parameter text: that is part of this program, as for bytes.
    public convenience init(_ text: String) { self.init(text, hasTexts: true) }

    private init(_ text: String, hasTexts: Bool) {
        self.hasTexts = hasTexts
        do {
            source = try Self.guarded(text)
        } catch {
            fatalError("A template of the panel isn't safe: \(error)")
        }
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

    struct Unguarded: Error, CustomStringConvertible {
        let description = "It sets delimiters or a content type, or its triple braces hold something else than a name."
    }

    /// A template whose triple braces, and `{{&`, which means the same, show ``PanelHTML`` alone.
    /// - Throws: ``Unguarded`` for a template that might show something else unescaped.
    static func guarded(_ text: String) throws(Unguarded) -> String {
        let opening = "{{{\(PanelHTML.transform)("
        let guarded = text.replacing(/\{\{(?:\{\s*([^{}\s]*)\s*\}|&\s*([^{}\s]*)\s*)\}\}/) { match in
            "\(opening)\(match.1 ?? match.2 ?? ""))}}}"
        }
        guard !guarded.contains(/\{\{[=%&]/), guarded.ranges(of: "{{{").count == guarded.ranges(of: opening).count
        else { throw Unguarded() }
        return guarded
    }

    public func render(_ values: [String: Any]) -> PanelHTML {
        guard let catalogue = MessageCatalogue.current else {
            return PanelHTML(english.render(values, library: Self.library))
        }
        return PanelHTML(template(in: catalogue).render(values, library: Self.library(in: catalogue)))
    }
}
