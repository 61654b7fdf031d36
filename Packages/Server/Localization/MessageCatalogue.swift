/// The translations of one language, read from a file in gettext's format.
public final class MessageCatalogue: Sendable {
    /// The catalogue of the current task; nil for English. Code that renders a page sets it for the request.
    @TaskLocal public static var current: MessageCatalogue?

    /// The context of names that an app defines.
    public static let nameContext = "name"

    public let language: Language
    private let plural: PluralRule
    private let entries: [POFile.Key: [String]]
    private let contexts: [String: [String: String]]

    /// - Throws: ``POError`` if a translation's placeholders don't match its text, or if the header is incomplete.
    public convenience init(_ file: POFile) throws(POError) { try self.init(file, over: nil) }

    /// - Parameter base: a catalogue of the same language, used for texts that the file lacks.
    public init(_ file: POFile, over base: MessageCatalogue?) throws(POError) {
        guard let tag = file.language, !tag.isEmpty else {
            throw POError(line: 1, "The header has no 'Language', such as 'Language: de\\n'.")
        }
        language =
            base?.language
            ?? Language(
                tag: tag, name: file.header["X-Language-Name"] ?? tag,
                lowersNouns: file.header["X-Nouns"] != "capitalized")
        if let rule = file.header["Plural-Forms"] {
            do {
                plural = try PluralRule(rule)
            } catch {
                throw POError(line: 1, "'Plural-Forms' can't be understood: \(error.reason)")
            }
        } else {
            plural = base?.plural ?? .germanic
        }
        var entries = base?.entries ?? [:]
        for entry in file.entries where entry.isTranslated {
            try entry.check(forms: plural.count)
            entries[entry.key] = entry.translations
        }
        self.entries = entries
        contexts = entries.reduce(into: [:]) { contexts, entry in
            guard let context = entry.key.context else { return }
            contexts[context, default: [:]][entry.key.text] = entry.value.first
        }
    }

    /// Nil if there is no translation.
    public func translation(of key: String, context: String? = nil) -> String? {
        entries[POFile.Key(context: context, text: key)]?.first
    }

    /// The translation in the form for a number.
    func translation(of key: String, count: Int) -> String? {
        guard let forms = entries[POFile.Key(context: nil, text: key)] else { return nil }
        let index = plural.form(of: count)
        return forms.indices.contains(index) ? forms[index] : forms.last
    }

    /// All translations of a context, by English text.
    public func translations(inContext context: String) -> [String: String] { contexts[context] ?? [:] }
}
