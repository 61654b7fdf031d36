import Testing
import TomboloLocalization

@Suite struct LocalizedMessageTests {
    private static func german(_ text: String, _ translation: String) throws -> MessageCatalogue {
        try MessageCatalogue(
            POFile("msgid \"\"\nmsgstr \"Language: de\\n\"\nmsgid \"\(text)\"\nmsgstr \"\(translation)\"\n"))
    }

    @Test("values go to their placeholders, in the order of the translation")
    func places() throws {
        let catalogue = try Self.german("{0} of {1}, by {2}", "{2}: {1} mit {0}")
        let (first, second) = ("7 {1}", "{0}")
        MessageCatalogue.$current.withValue(catalogue) {
            // Braces within a value aren't placeholders.
            #expect(localized("\(first) of " + "\(second), by \(nil as Int? ?? 3)") == "3: {0} mit 7 {1}")
        }
        #expect(localized("\(first) of \(second), by \(3)") == "7 {1} of {0}, by 3")
    }

    @Test("braces that aren't placeholders stay")
    func braces() throws {
        let catalogue = try Self.german("a {0} b", "{ {x} {0} {")
        MessageCatalogue.$current.withValue(catalogue) { #expect(localized("a \(1) b") == "{ {x} 1 {") }
    }

    @Test("an app's names have a context of their own")
    func names() throws {
        let catalogue = try MessageCatalogue(
            POFile(
                "msgid \"\"\nmsgstr \"Language: de\\n\"\nmsgctxt \"name\"\nmsgid \"Speakers\"\nmsgstr \"Vortragende\"\n"
            ))
        MessageCatalogue.$current.withValue(catalogue) {
            #expect(localizedName("Speakers") == "Vortragende" && localizedName("Rooms") == "Rooms")
            #expect(localized("Speakers") == "Speakers")
        }
    }
}
