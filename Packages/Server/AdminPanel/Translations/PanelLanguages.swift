import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import TomboloAuthentication
public import TomboloHTTP
public import TomboloLocalization

/// The languages that pages can be in: English, the built-in ones, and those of an operator's folder, whose files can
/// also name an app's classes and properties. They include the texts of mails.
public struct PanelLanguages: Sendable {
    /// The context of texts that `panel.js` writes into pages.
    static let scriptContext = "script"

    public let texts: MessageCatalogues
    /// For each language, a JSON object that the page passes to the script: English texts with their translations.
    private let scriptWords: [String: String]

    /// By the languages' own names, without English.
    var catalogues: [MessageCatalogue] { texts.all }
    var languages: [Language] { texts.languages }

    /// The built-in languages.
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

    /// - Parameter folder: a folder with files in gettext's format, such as `de.po`. A file for a built-in language
    ///   adds to it, and takes precedence where both have a text.
    public init(folder: String) throws(ConfigurationError) {
        self.init(try MessageCatalogues(folder: folder, over: Self.builtIn.texts))
    }

    /// - Returns: the built-in languages if the process's environment names no folder.
    public static func ofEnvironment() throws(ConfigurationError) -> PanelLanguages {
        PanelLanguages(try .ofEnvironment(over: builtIn.texts))
    }

    /// The script's texts; empty for English.
    func scriptWords(in language: Language) -> String { scriptWords[language.tag] ?? "" }

    /// The catalogue for a request: in the language chosen in its browser, or else the one that the browser prefers.
    /// - Returns: nil for English.
    func catalogue(for request: Request, _ context: EdgeContext) -> MessageCatalogue? {
        if let tag = Self.chosen(request, context), languages.contains(where: { $0.tag == tag }) { return texts[tag] }
        return request.headers[.acceptLanguage].flatMap(texts.preferred)
    }

    /// The choice made with ``ThemePages``; nil for the browser's preference.
    static func chosen(_ request: Request, _ context: EdgeContext) -> String? {
        PanelCookie.language.value(in: request, context)
    }

    /// The choices, for a template.
    func choices(chosen tag: String?) -> [[String: Any]] {
        [["value": "", "title": localized("same as the browser"), "isChosen": tag == nil, "language": ""]]
            + languages.map {
                ["value": $0.tag, "title": $0.name, "isChosen": $0.tag == tag, "language": $0.tag]
            }
    }
}
