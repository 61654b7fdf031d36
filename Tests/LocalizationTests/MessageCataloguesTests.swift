import Testing
import TomboloLocalization

@Suite struct MessageCataloguesTests {
    private static func catalogues() throws -> MessageCatalogues {
        MessageCatalogues(
            try [("fr", "Français"), ("de", "Deutsch")].map { tag, name in
                try MessageCatalogue(
                    POFile("msgid \"\"\nmsgstr \"Language: \(tag)\\nX-Language-Name: \(name)\\n\"\n"))
            })
    }

    @Test("languages are sorted by their own names, after English")
    func order() throws {
        let catalogues = try Self.catalogues()
        #expect(catalogues.languages.map(\.tag) == ["en", "de", "fr"])
        #expect(catalogues["fr"]?.language.name == "Français")
        #expect(catalogues["en"] == nil && catalogues["it"] == nil)
    }

    @Test(
        "messages caused by a request are in the page's language, or else in the language that the request prefers",
        arguments: [
            (nil, nil, "en"), (nil, "fr-CA, de;q=0.5", "fr"), (nil, "it", "en"), (nil, "en, de;q=0.9", "en"),
            ("de", nil, "de"), ("de", "fr", "de"), (nil, "", "en"),
        ] as [(String?, String?, String)])
    func current(_ page: String?, _ wish: String?, _ expected: String) throws {
        let catalogues = try Self.catalogues()
        let found = MessageCatalogue.$current.withValue(page.flatMap { catalogues[$0] }) {
            Language.$wish.withValue(wish) { catalogues.current }
        }
        #expect((found?.language ?? .english).tag == expected)
    }
}
