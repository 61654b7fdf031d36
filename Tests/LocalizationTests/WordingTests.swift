import Testing
import TomboloLocalization
import TomboloModel

@Suite struct WordingTests {
    private static let german = Result {
        try MessageCatalogue(
            POFile(
                """
                msgid ""
                msgstr "Language: de\\n"

                msgid "Not permitted to {0} this {1}: {2}."
                msgstr "{1} {0} ist nicht erlaubt: {2}."

                msgid "no rule of the role '{0}' allows it"
                msgstr "keine Regel von „{0}“ erlaubt es"

                msgctxt "may …"
                msgid "read"
                msgstr "lesen"

                msgctxt "name"
                msgid "guest"
                msgstr "Gast"

                msgctxt "name"
                msgid "check"
                msgstr "prüfen"
                """))
    }

    private func refusal(_ operation: String, role: String) -> Wording {
        let reason = Wording("no rule of the role '\(name: role)' " + "allows it")
        return Wording("Not permitted to \(name: operation, context: "may …") this \("Note {1}"): \(reason).")
    }

    @Test("a text is English by itself, and translated on a page, including the texts within it")
    func translated() throws {
        let guest = refusal("read", role: "guest")
        #expect("\(guest)" == "Not permitted to read this Note {1}: no rule of the role 'guest' allows it.")
        #expect(guest.localized == guest.description)
        try MessageCatalogue.$current.withValue(Self.german.get()) {
            #expect(guest.localized == "Note {1} lesen ist nicht erlaubt: keine Regel von „Gast“ erlaubt es.")
            #expect("\(guest)" == "Not permitted to read this Note {1}: no rule of the role 'guest' allows it.")
            // An operation of the app, and a role without a translation.
            let other = refusal("check", role: "boss")
            #expect(other.localized == "Note {1} prüfen ist nicht erlaubt: keine Regel von „boss“ erlaubt es.")
        }
    }

    @Test("texts without a translation stay in English")
    func untranslated() throws {
        try MessageCatalogue.$current.withValue(Self.german.get()) {
            #expect(Wording("\(1) of {\(2)").localized == "1 of {2")
            #expect(Wording(untranslated: "{0} {1}").localized == "{0} {1}")
            let known = Wording("no rule of the role '\(name: "guest")' allows it")
            #expect(Wording("Refused: \(known)!").localized == "Refused: keine Regel von „Gast“ erlaubt es!")
        }
    }
}
