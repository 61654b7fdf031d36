import Testing
import TomboloLocalization

@Suite struct LanguageTests {
    private static let languages = [
        Language.english, Language(tag: "de", name: "Deutsch"), Language(tag: "pt-BR", name: "Português"),
    ]

    @Test(
        "the most preferred of the available languages is chosen",
        arguments: [
            ("de", "de"), ("de-AT,en;q=0.5", "de"), ("fr, en;q=0.3, de;q=0.7", "de"), ("EN-us", "en"),
            ("pt", "pt-BR"), ("pt-PT", "pt-BR"), ("pt-br;q=0.2, de;q=0.1", "pt-BR"), ("de;q=0", nil), ("*", nil),
            ("", nil), (",;q=,;;q=1,", nil), ("de;q=x", "de"),
        ] as [(String, String?)])
    func preferred(header: String, tag: String?) {
        #expect(Language.preferred(header, of: Self.languages)?.tag == tag, "\(header)")
    }

    @Test("right-to-left languages are known")
    func direction() {
        #expect(Language(tag: "ar", name: "").isRightToLeft && Language(tag: "he-IL", name: "").isRightToLeft)
        #expect(!Language.english.isRightToLeft && !Language(tag: "arn", name: "").isRightToLeft)
    }
}
