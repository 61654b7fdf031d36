import Foundation
import TomboloHTTP
import TomboloLocalization
import TomboloModel

/// What a job says about one of its rows, or about itself, as its table stores it: in English, and as the JSON of a
/// `Wording` for those who read it in another language.
struct JobText: Sendable {
    /// How much of the English is stored.
    static let englishByteCount = 1_000
    /// A wording with longer JSON isn't stored: everybody reads its English.
    static let wordingByteCount = 6_000

    let english: String
    let wording: Wording
    /// Nil if it's too long, or if no language could say it differently.
    let json: String?

    init(_ wording: Wording) {
        self.wording = wording.withoutNUL
        english = Self.english(self.wording)
        let text = self.wording.isTranslatable ? JobStore.text(self.wording.json) : nil
        json = text.flatMap { $0.utf8.count <= Self.wordingByteCount ? $0 : nil }
    }

    /// A text of a row that any version of a server may have written. The English counts if the wording can't be read or
    /// says something else: a server of an earlier version changes only the English.
    init(english: String, json: String?) {
        self.english = english
        self.json = json
        let decoded = json.flatMap { try? JSONDecoder().decode(JSON.self, from: Data($0.utf8)) }
        let stored = Wording(json: decoded).flatMap { Self.english($0) == english ? $0 : nil }
        wording = stored ?? Wording(pattern: english, values: [])
    }

    /// The text in the language of ``MessageCatalogue/current``.
    var localized: String {
        let text = wording.localized
        return english == wording.description ? text : text.shortened(toByteCount: Self.englishByteCount)
    }

    private static func english(_ wording: Wording) -> String {
        wording.description.shortened(toByteCount: englishByteCount)
    }

    /// Sentences as one text, without those that nobody would see because the English is cut before them.
    static func joined(_ sentences: [Wording]) -> Wording {
        var start = 0
        let shown = sentences.prefix { sentence in
            defer { start += sentence.description.utf8.count + 1 }
            return start <= englishByteCount + 1
        }
        guard shown.count > 1 else { return shown.first ?? Wording(untranslated: "") }
        return Wording(
            pattern: shown.indices.map { "{\($0)}" }.joined(separator: " "), values: shown.map { .wording($0) })
    }
}

extension Wording {
    /// Whether it has words of its own, or names, and not just values.
    fileprivate var isTranslatable: Bool {
        Wording.filling(pattern, with: values.map { _ in "" }).contains(where: \.isLetter)
            || values.contains { value in
                switch value {
                case .text: false
                case .name: true
                case .wording(let wording): wording.isTranslatable
                }
            }
    }

    /// The same with U+FFFD for U+0000, which it may quote from a file and the database can't store.
    fileprivate var withoutNUL: Wording {
        guard description.utf8.contains(0) else { return self }
        let values = values.map { value -> Part in
            switch value {
            case .text(let text): .text(text.replacing("\0", with: "\u{FFFD}"))
            case .name(let name, let context): .name(name.replacing("\0", with: "\u{FFFD}"), context: context)
            case .wording(let wording): .wording(wording.withoutNUL)
            }
        }
        return Wording(pattern: pattern, values: values)
    }
}
