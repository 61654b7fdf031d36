import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
public import TomboloHTTP
public import TomboloLocalization

/// The languages that pages can be in: English, those that come with the panel, and those of an operator's folder, whose files
/// also name an app's classes and properties. They have the texts of mails too.
public struct PanelLanguages: Sendable {
    /// The context of texts that `panel.js` writes into pages.
    static let scriptContext = "script"

    public let texts: MessageCatalogues
    /// What pages tell the script, by language: a JSON object of its texts in English with their translations.
    private let scriptWords: [String: String]

    /// By the languages' own names, without English.
    var catalogues: [MessageCatalogue] { texts.all }
    var languages: [Language] { texts.languages }

    /// Those that come with the panel.
    public static let builtIn = PanelLanguages(
        MessageCatalogues(
            BuiltInTranslations.files.values.map { text in
                do {
                    let file = try POFile(text)
                    return try MessageCatalogue(file, over: file.language.flatMap { MailTranslations.builtIn[$0] })
                } catch {
                    fatalError("A file of the panel's translations can't be read: \(error)")
                }
            }))

    init(_ texts: MessageCatalogues) {
        self.texts = texts
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        scriptWords = Dictionary(
            uniqueKeysWithValues: texts.all.map { catalogue in
                let words = try? encoder.encode(catalogue.translations(inContext: Self.scriptContext))
                return (catalogue.language.tag, words.map { String(decoding: $0, as: UTF8.self) } ?? "{}")
            })
    }

    /// - Parameter folder: with files in gettext's format, `de.po`. One of a language that comes with the panel adds to it, and
    ///   what it has instead counts.
    /// - Throws: ``ConfigurationError`` with every file that can't be read, and why.
    public init(folder: String) throws(ConfigurationError) {
        self.init(try MessageCatalogues(folder: folder, over: Self.builtIn.texts))
    }

    /// - Returns: those that come with the panel where the process's environment names no folder.
    public static func ofEnvironment() throws(ConfigurationError) -> PanelLanguages {
        PanelLanguages(try .ofEnvironment(over: builtIn.texts))
    }

    /// Empty for English.
    func scriptWords(in language: Language) -> String { scriptWords[language.tag] ?? "" }

    /// The catalogue for a request: in the language that its browser has chosen here, or that it says it likes best.
    /// - Returns: nil for English.
    func catalogue(for request: Request, _ context: EdgeContext) -> MessageCatalogue? {
        if let tag = Self.chosen(request, context), languages.contains(where: { $0.tag == tag }) { return texts[tag] }
        return request.headers[.acceptLanguage].flatMap(texts.preferred)
    }

    /// What was chosen with ``ThemePages``; nil for what the browser likes best.
    static func chosen(_ request: Request, _ context: EdgeContext) -> String? {
        PanelCookie.language.value(in: request, context)
    }

    /// The choices, for a template.
    func choices(chosen tag: String?) -> [[String: Any]] {
        [["value": "", "title": localized("as the browser says"), "isChosen": tag == nil, "language": ""]]
            + languages.map {
                ["value": $0.tag, "title": $0.name, "isChosen": $0.tag == tag, "language": $0.tag]
            }
    }
}
