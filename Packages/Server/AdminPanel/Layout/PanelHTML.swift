public import Mustache
import Synchronization
import TomboloLocalization
import TomboloMarkdown

/// HTML in which everything from outside is escaped. Only ``PanelTemplate`` and, for Markdown texts, ``MarkdownHTML``
/// make it.
public struct PanelHTML: MustacheCustomRenderable, MustacheTransformable, Sendable {
    /// The transform that ``PanelTemplate`` inserts into triple braces: it works only on a `PanelHTML`.
    static let transform = "html"

    let text: String

    fileprivate init(_ text: String) { self.text = text }

    /// Formatted Markdown; nil if the text is too long.
    /// - Parameter firstHeading: the level of its top headings, one below the heading that precedes it on the page.
    init?(markdown: String, firstHeading: Int) {
        guard markdown.utf8.count <= MarkdownHTML.maximumByteCount else { return nil }
        text = MarkdownHTML(markdown, firstHeading: firstHeading).text
    }

    public var renderText: String { text }
    public var isNull: Bool { text.isEmpty }
    public func transform(_ name: String) -> Any? { name == Self.transform ? self : nil }
}

/// A [Mustache](https://mustache.github.io) template, such as a file in `Templates`. Double braces escape their values.
/// Triple braces show only ``PanelHTML``, and nothing for any other value; use them for names that end with `HTML`. The
/// values of a template are dictionaries, lists, texts, numbers and Booleans.
///
/// Templates include others by name: `{{> form-token}}` for every form, `{{> described}}` within a control's tag,
/// `{{> problems}}` within a list.
///
/// A template's own texts are English. They are translated when it is rendered, with the current catalogue: see
/// ``TemplateTexts``.
public final class PanelTemplate: Sendable {
    private let source: String
    private let english: MustacheTemplate
    /// Whether it contains texts to translate: `described` has only attributes.
    private let hasTexts: Bool
    /// Keyed by catalogue. Catalogues live as long as the server.
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

    /// - Parameter bytes: a file that is part of this program. A template that can't be parsed ends the program, and
    ///   fails a test.
    public convenience init(_ bytes: [UInt8]) { self.init(String(decoding: bytes, as: UTF8.self), hasTexts: true) }

    /// - Parameter text: a template that is part of this program. If it can't be parsed, the program ends.
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

    /// The template's source, changed so that triple braces and the equivalent `{{&` show only ``PanelHTML``.
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
