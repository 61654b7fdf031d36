import Foundation
import Testing
import TomboloHTTP
import TomboloLocalization
import TomboloModel

@testable import TomboloJSONAPI

/// What jobs store about their rows is read in English or in the reader's language, whatever is in it.
@Suite struct JobTextTests {
    private static func german() throws -> MessageCatalogue {
        try MessageCatalogue(
            POFile(
                #"""
                msgid ""
                msgstr "Language: de\n"

                msgid "Column '{0}': {1}"
                msgstr "{1} (Spalte „{0}“)"

                msgid "'{0}' isn't {1}."
                msgstr "„{0}“ ist nicht: {1}."

                msgid "a number"
                msgstr "eine Zahl"

                msgid "Try again."
                msgstr "Noch einmal."

                msgctxt "name"
                msgid "owner"
                msgstr "Besitzer"
                """#))
    }

    private static func inGerman(_ text: JobText) throws -> String {
        try MessageCatalogue.$current.withValue(german()) { text.localized }
    }

    /// As it's read from its row.
    private static func stored(_ wording: Wording) -> JobText {
        let text = JobText(wording)
        return JobText(english: text.english, json: text.json)
    }

    private static func refusal(_ column: String, _ value: String) -> Wording {
        Wording("Column '\(column)': \(Wording("'\(value)' isn't \(Wording("a number"))."))")
    }

    @Test(
        "values are told in every language as they are, even if they look like placeholders",
        arguments: [
            "seven", "", "100%", "%@ %s %n", "{0}", "{1} {0}", "{99999999999999999999}", "{", "}}", "a number",
            "Try again.", #"\"{"pattern": "x"}"#, "\u{1F469}\u{200D}\u{1F4BB}", "e\u{301}", "'; DROP TABLE job; --",
            "<b>",
        ])
    func values(value: String) throws {
        let text = Self.stored(Self.refusal(value, value))
        #expect(text.english == "Column '\(value)': '\(value)' isn't a number.")
        #expect(text.localized == text.english)
        #expect(try Self.inGerman(text) == "„\(value)“ ist nicht: eine Zahl. (Spalte „\(value)“)")
        #expect(text.wording == Self.refusal(value, value), "a job that stores it again doesn't lose its values")
    }

    @Test("U+0000, which the database can't store, becomes U+FFFD, and names are in the reader's language")
    func odd() throws {
        let text = Self.stored(Self.refusal("a", "x\0\0y"))
        #expect(text.english == "Column 'a': 'x\u{FFFD}\u{FFFD}y' isn't a number.")
        #expect(text.json?.contains("u0000") == false)
        #expect(try Self.inGerman(text) == "„x\u{FFFD}\u{FFFD}y“ ist nicht: eine Zahl. (Spalte „a“)")
        let name = Self.stored(Wording("'\(name: "owner")' isn't \(name: "visitor")."))
        #expect(name.english == "'owner' isn't visitor.")
        #expect(try Self.inGerman(name) == "„Besitzer“ ist nicht: visitor.")
    }

    @Test("a text with a long value is cut, and what is too long to be stored with its values is read in English")
    func long() throws {
        let value = String(repeating: "ä", count: 900)
        let cut = Self.stored(Self.refusal("a", value))
        #expect(cut.english.utf8.count <= JobText.englishByteCount + "…".utf8.count && cut.english.hasSuffix("…"))
        #expect(cut.json != nil)
        #expect(try Self.inGerman(cut).hasPrefix("„\(value.prefix(100))"))
        #expect(try Self.inGerman(cut).utf8.count <= JobText.englishByteCount + "…".utf8.count)
        for character in ["x", "\"", "\u{1}"] {
            let longer = Self.stored(Self.refusal("a", String(repeating: character, count: 100_000)))
            #expect(longer.json == nil && longer.english.utf8.count <= JobText.englishByteCount + "…".utf8.count)
            #expect(try Self.inGerman(longer) == longer.english)
            #expect(Self.stored(longer.wording).english == longer.english, "stored again")
        }
    }

    @Test("many sentences are stored as far as they're shown")
    func sentences() throws {
        #expect(Self.stored(JobText.joined([])).english == "")
        let one = Self.stored(JobText.joined([Wording("Try again.")]))
        #expect(try Self.inGerman(one) == "Noch einmal.")
        let sentences = (0..<50).flatMap { [Self.refusal("column \($0)", "\($0)"), Wording("Try again.")] }
        let two = Self.stored(JobText.joined(Array(sentences.prefix(2))))
        #expect(two.english == "Column 'column 0': '0' isn't a number. Try again.")
        #expect(try Self.inGerman(two) == "„0“ ist nicht: eine Zahl. (Spalte „column 0“) Noch einmal.")
        let all = Self.stored(JobText.joined(sentences))
        let english = sentences.map(\.description).joined(separator: " ")
        #expect(all.english == english.shortened(toByteCount: JobText.englishByteCount))
        #expect(try #require(all.json).utf8.count <= JobText.wordingByteCount)
        #expect(try Self.inGerman(all).hasPrefix("„0“ ist nicht: eine Zahl. (Spalte „column 0“) Noch einmal. „1“ ist"))
        // The cut may be right behind a sentence.
        for length in JobText.englishByteCount - 3...JobText.englishByteCount + 1 {
            let first = String(repeating: "x", count: length)
            let text = JobText(JobText.joined([Wording(untranslated: first), Wording("Try again.")]))
            #expect(text.english == "\(first) Try again.".shortened(toByteCount: JobText.englishByteCount))
        }
    }

    @Test("English is shown for a text that a later version no longer translates, and for one from elsewhere")
    func unknown() throws {
        let old = Wording(pattern: "{1} is not {0}", values: [.wording(Wording("a number")), .text("x")])
        #expect(try Self.inGerman(Self.stored(old)) == "x is not eine Zahl")
        let gone = Self.stored(Wording(pattern: "Nobody says '{0}' any more.", values: [.text("x")]))
        #expect(try Self.inGerman(gone) == "Nobody says 'x' any more.")
        let raised = JobText(Wording(untranslated: "A trigger's {0}."))
        #expect(raised.json == nil && raised.english == "A trigger's {0}.")
        #expect(try Self.inGerman(Self.stored(Wording(untranslated: "A trigger's {0}."))) == "A trigger's {0}.")
    }

    @Test("the stored English counts if the values are missing, can't be read, or say something else")
    func others() throws {
        let own = try #require(JobText(Self.refusal("a", "x")).json)
        let deep = String(repeating: #"{"pattern":"{0}","values":["#, count: 3_000)
        for json in [
            nil, own, "", "null", "7", "[]", "{}", "{", #""text""#, #"{"pattern": "Try again."}"#,
            #"{"pattern": "Try again.", "values": {}}"#, #"{"pattern": "{0}", "values": [7]}"#, deep,
        ] {
            let text = JobText(english: "Something {0} else", json: json)
            #expect(try Self.inGerman(text) == "Something {0} else", "\(json ?? "NULL")")
            #expect(JobText(text.wording).english == "Something {0} else")
        }
        #expect(try Self.inGerman(JobText(english: "Try again.", json: nil)) == "Noch einmal.")
        let later = JobText(
            english: "Try again.", json: #"{"pattern": "Try {0}.", "values": ["again"], "importance": 7}"#)
        #expect(try Self.inGerman(later) == "Try again.")
    }
}
