/// A file of translations in gettext's format (`.po`): English texts with their translations.
public struct POFile: Sendable {
    public struct Key: Hashable, Sendable {
        public let context: String?
        public let text: String

        public init(context: String? = nil, text: String) {
            self.context = context
            self.text = text
        }
    }

    public struct Entry: Sendable {
        public let key: Key
        /// English for numbers other than one; nil for a text that isn't about a number.
        public let plural: String?
        /// One translation, or one for each plural form of the language.
        public let translations: [String]
        /// The entry's first line, from 1.
        public let line: Int

        /// Whether there is a translation. Entries that are marked as fuzzy count as untranslated.
        public var isTranslated: Bool { !translations.isEmpty && !translations.contains("") }
    }

    /// By name: `Language`, `Plural-Forms`.
    public private(set) var header: [String: String] = [:]
    public private(set) var entries: [Entry] = []

    /// Longer files are refused.
    public static let maximumByteCount = 4_000_000

    public init(_ text: String) throws(POError) {
        guard text.utf8.count <= Self.maximumByteCount else {
            throw POError(line: 1, "The file has more than \(Self.maximumByteCount) bytes.")
        }
        var reader = Reader()
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() { try reader.read(Substring(line).trimming, at: index + 1) }
        try reader.finish()
        entries = reader.entries
        for line in reader.header.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            header[String(line[..<colon].trimming)] = String(line[line.index(after: colon)...].trimming)
        }
    }

    private struct Reader {
        private enum Field: Equatable { case context, text, plural, translation(Int) }

        var entries: [Entry] = []
        var header = ""
        private var fields: [(field: Field, value: String)] = []
        private var start = 1
        private var isFuzzy = false
        private var seen: Set<Key> = []

        mutating func read(_ line: Substring, at number: Int) throws(POError) {
            if line.isEmpty { return try finish() }
            if line.hasPrefix("#") {
                // Comments precede the entry that they're about.
                if fields.contains(where: { if case .translation = $0.field { true } else { false } }) { try finish() }
                if line.hasPrefix("#,"), line.contains("fuzzy") { isFuzzy = true }
                return
            }
            if line.hasPrefix("\"") {
                guard !fields.isEmpty else {
                    throw POError(line: number, "A text stands here without 'msgid' before it.")
                }
                fields[fields.count - 1].value += try Self.unquoted(line, at: number)
                return
            }
            let keyword = line.prefix { $0 != " " && $0 != "\t" && $0 != "\"" }
            let field = try Self.field(keyword, at: number)
            if field == .context || (field == .text && fields.last?.field != .context) { try finish() }
            if fields.isEmpty { start = number }
            guard !fields.contains(where: { $0.field == field }) else {
                throw POError(line: number, "'\(keyword)' is there twice.")
            }
            fields.append((field, try Self.unquoted(line.dropFirst(keyword.count).trimming, at: number)))
        }

        private static func field(_ keyword: Substring, at line: Int) throws(POError) -> Field {
            switch keyword {
            case "msgctxt": return .context
            case "msgid": return .text
            case "msgid_plural": return .plural
            case "msgstr": return .translation(0)
            default:
                guard keyword.hasPrefix("msgstr["), keyword.hasSuffix("]"),
                    let form = Int(keyword.dropFirst(7).dropLast())
                else {
                    throw POError(
                        line: line, "'\(keyword.prefix(40))' isn't one of msgctxt, msgid, msgid_plural and msgstr.")
                }
                return .translation(form)
            }
        }

        /// Ends the current entry.
        mutating func finish() throws(POError) {
            guard !fields.isEmpty else { return }
            defer {
                fields = []
                isFuzzy = false
            }
            func value(_ field: Field) -> String? { fields.first { $0.field == field }?.value }
            guard let text = value(.text) else { throw POError(line: start, "'msgid' is missing.") }
            var translations: [String] = []
            while let form = value(.translation(translations.count)) { translations.append(form) }
            guard !translations.isEmpty else { throw POError(line: start, "'msgstr' is missing.") }
            let key = Key(context: value(.context), text: text)
            guard seen.insert(key).inserted else { throw POError(line: start, "The text '\(text)' is there twice.") }
            if text.isEmpty {
                header = translations[0]
            } else if !isFuzzy {
                entries.append(Entry(key: key, plural: value(.plural), translations: translations, line: start))
            }
        }

        private static let escapes: [Character: Character] = [
            "n": "\n", "t": "\t", "r": "\r", "\"": "\"", "\\": "\\",
        ]

        private static func unquoted(_ text: Substring, at line: Int) throws(POError) -> String {
            let mark = UInt8(ascii: "\"")
            guard text.utf8.count >= 2, text.utf8.first == mark, text.utf8.last == mark else {
                throw POError(line: line, "The text isn't between quotation marks.")
            }
            let plain = text.utf8.dropFirst().dropLast()
            if !plain.contains(where: { $0 == mark || $0 == UInt8(ascii: "\\") }) { return String(Substring(plain)) }
            var found = ""
            var isEscaped = false
            for character in text.dropFirst().dropLast() {
                if isEscaped {
                    guard let plain = escapes[character] else {
                        throw POError(line: line, "'\\\(character)' isn't an escape: use \\n, \\t, \\\" or \\\\.")
                    }
                    found.append(plain)
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    throw POError(line: line, "A quotation mark within the text needs a backslash: \\\".")
                } else {
                    found.append(character)
                }
            }
            guard !isEscaped else { throw POError(line: line, "The text ends within an escape.") }
            return found
        }
    }
}

extension POFile {
    /// The BCP 47 tag; nil without a header.
    public var language: String? { header["Language"]?.replacing("_", with: "-") }
}
