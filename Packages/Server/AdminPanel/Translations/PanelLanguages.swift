import AdminService
import Foundation
import HTTPTypes
import Hummingbird
public import TomboloHTTP
import TomboloLocalization

/// The languages that pages can be in: English, those that come with the panel, and those of an operator's folder, whose files
/// also name an app's classes and properties.
public struct PanelLanguages: Sendable {
    /// The variable that names the folder.
    public static let variable = AdminServer.translationsVariable
    /// The context of texts that `panel.js` writes into pages.
    static let scriptContext = "script"
    /// More files than there are languages.
    private static let maximumFileCount = 200

    /// By the languages' own names, without English.
    let catalogues: [MessageCatalogue]
    let languages: [Language]
    /// What pages tell the script, by language: a JSON object of its texts in English with their translations.
    private let scriptWords: [String: String]

    /// Those that come with the panel.
    public static let builtIn = PanelLanguages(
        catalogues: BuiltInTranslations.files.values.map { text in
            do {
                return try MessageCatalogue(POFile(text))
            } catch {
                fatalError("A file of the panel's translations can't be read: \(error)")
            }
        })

    init(catalogues: [MessageCatalogue]) {
        self.catalogues = catalogues.sorted { $0.language.name < $1.language.name }
        languages = [.english] + self.catalogues.map(\.language)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        scriptWords = Dictionary(
            uniqueKeysWithValues: catalogues.map { catalogue in
                let words = try? encoder.encode(catalogue.translations(inContext: Self.scriptContext))
                return (catalogue.language.tag, words.map { String(decoding: $0, as: UTF8.self) } ?? "{}")
            })
    }

    /// - Parameter folder: with files in gettext's format, `de.po`. One of a language that comes with the panel adds to it, and
    ///   what it has instead counts.
    /// - Throws: ``ConfigurationError`` with every file that can't be read, and why.
    public init(folder: String) throws(ConfigurationError) {
        var catalogues = Self.builtIn.catalogues
        var problems: [String] = []
        let files: [String]
        do {
            files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".po") }.sorted()
        } catch {
            throw ConfigurationError(problems: [
                "\(Self.variable) is '\(folder)': the folder can't be read. Name a folder with files such as de.po."
            ])
        }
        if files.isEmpty {
            problems.append("\(Self.variable) is '\(folder)': it has no files whose names end with .po.")
        }
        if files.count > Self.maximumFileCount {
            problems.append("\(Self.variable) is '\(folder)': it has more than \(Self.maximumFileCount) files.")
        }
        for name in files.prefix(Self.maximumFileCount) {
            let path = "\(folder)/\(name)"
            do {
                let file = try POFile(Self.text(of: path))
                let index = catalogues.firstIndex { $0.language.tag == file.language }
                let catalogue = try MessageCatalogue(file, over: index.map { catalogues[$0] })
                if let index { catalogues[index] = catalogue } else { catalogues.append(catalogue) }
            } catch let error as POError {
                problems.append("\(path), \(error)")
            } catch {
                problems.append("\(path) can't be read: \(error)")
            }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        self.init(catalogues: catalogues)
    }

    private static func text(of path: String) throws -> String {
        let data = try Data(contentsOf: URL(filePath: path))
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ConfigurationError(problems: ["it isn't text in UTF-8."])
        }
        return text
    }

    /// - Returns: those that come with the panel where the process's environment names no folder.
    public static func ofEnvironment() throws(ConfigurationError) -> PanelLanguages {
        guard let folder = ProcessInfo.processInfo.environment[variable], !folder.isEmpty else { return .builtIn }
        return try PanelLanguages(folder: folder)
    }

    /// Empty for English.
    func scriptWords(in language: Language) -> String { scriptWords[language.tag] ?? "" }

    /// The catalogue for a request: in the language that its browser has chosen here, or that it says it likes best.
    /// - Returns: nil for English.
    func catalogue(for request: Request, _ context: EdgeContext) -> MessageCatalogue? {
        let chosen = Self.chosen(request, context).flatMap { tag in languages.first { $0.tag == tag }?.tag }
        let tag =
            chosen
            ?? request.headers[.acceptLanguage].flatMap { Language.preferred($0, of: languages)?.tag }
        return catalogues.first { $0.language.tag == tag }
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
