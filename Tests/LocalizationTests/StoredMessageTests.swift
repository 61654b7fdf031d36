import Foundation
import Testing
import TomboloLocalization

@Suite struct StoredMessageTests {
    private static func german() throws -> MessageCatalogue {
        try MessageCatalogue(
            POFile(
                #"""
                msgid ""
                msgstr "Language: de\n"

                msgid "by {0} of {1}"
                msgstr "{1}: von {0}"

                msgid "{0} row went"
                msgid_plural "{0} rows went"
                msgstr[0] "eine Zeile fort"
                msgstr[1] "{0} Zeilen fort"
                """#))
    }

    private static func read(_ json: String) throws -> StoredMessage {
        try JSONDecoder().decode(StoredMessage.self, from: Data(json.utf8))
    }

    private static func stored(_ message: StoredMessage) throws -> StoredMessage {
        try JSONDecoder().decode(StoredMessage.self, from: JSONEncoder().encode(message))
    }

    private static func texts(_ message: StoredMessage) throws -> [String] {
        [message.english, message.translated, try MessageCatalogue.$current.withValue(german()) { message.translated }]
    }

    @Test("a stored text is shown in English or in the reader's language, in the singular or the plural")
    func reading() throws {
        let (author, book) = ("Ada", "{0}")
        let message = try Self.stored(StoredMessage("by \(author) " + "of \(book)"))
        #expect(try Self.texts(message) == ["by Ada of {0}", "by Ada of {0}", "{0}: von Ada"])
        for (count, english, german) in [
            (0, "0 rows went", "0 Zeilen fort"), (1, "1 row went", "eine Zeile fort"),
            (7, "7 rows went", "7 Zeilen fort"),
        ] {
            let message = try Self.stored(StoredMessage(count, one: "\(count) row went", other: "\(count) rows went"))
            #expect(try Self.texts(message) == [english, english, german])
        }
        let name = try Self.stored(.untranslated("by {0} of {1}"))
        #expect(try Self.texts(name) == [String](repeating: "by {0} of {1}", count: 3))
    }

    @Test("messages stored by another version are read as far as possible")
    func versions() throws {
        let later = try Self.read(#"{"message": "{0} of {1} columns", "values": ["1"], "importance": 7}"#)
        #expect(try Self.texts(later) == [String](repeating: "1 of {1} columns", count: 3))
        let example = try Self.read(
            #"{"message": "{0} rows went", "one": "{0} row went", "count": 3, "values": ["3"]}"#)
        #expect(try Self.texts(example) == ["3 rows went", "3 rows went", "3 Zeilen fort"])
        for json in ["{}", "[]", #"{"message": "by {0}"}"#, #"{"message": "by {0}", "values": [1]}"#] {
            #expect(throws: DecodingError.self, "\(json)") { try Self.read(json) }
        }
    }
}
