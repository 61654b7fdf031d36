import Foundation
public import TomboloLocalization

/// An operator's folder of gettext files, which adds languages.
extension MessageCatalogues {
    /// The variable that names the folder.
    public static let folderVariable = "TOMBOLO_TRANSLATIONS"
    /// The most files in the folder: more than there are languages.
    private static let maximumFileCount = 200

    /// - Parameters:
    ///   - folder: contains files such as `de.po`. If the program already has the language, the file's texts add to it
    ///     and override it.
    ///   - base: the languages that come with the program.
    /// - Throws: ``ConfigurationError`` with every file that can't be read, and why.
    public init(folder: String, over base: MessageCatalogues) throws(ConfigurationError) {
        var catalogues = base.all
        var problems: [String] = []
        let files: [String]
        do {
            files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".po") }.sorted()
        } catch {
            throw ConfigurationError(problems: [
                "\(Self.folderVariable) is '\(folder)': the folder can't be read. Name a folder with files such as de.po."
            ])
        }
        if files.isEmpty {
            problems.append("\(Self.folderVariable) is '\(folder)': it has no .po files.")
        }
        if files.count > Self.maximumFileCount {
            problems.append("\(Self.folderVariable) is '\(folder)': it has more than \(Self.maximumFileCount) files.")
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
        self.init(catalogues)
    }

    private static func text(of path: String) throws -> String {
        let data = try Data(contentsOf: URL(filePath: path))
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ConfigurationError(problems: ["it isn't UTF-8 text."])
        }
        return text
    }

    /// Adds the folder named in the process's environment, if there is one.
    /// - Throws: ``ConfigurationError``.
    public static func ofEnvironment(over base: MessageCatalogues) throws(ConfigurationError) -> MessageCatalogues {
        guard let folder = ProcessInfo.processInfo.environment[folderVariable], !folder.isEmpty else { return base }
        return try MessageCatalogues(folder: folder, over: base)
    }
}
