import Testing

@testable import Tombolo

@Suite struct AcceptedLanguageTests {
    @Test(
        "requests name the user's preferred languages, in order of preference",
        arguments: [
            ([], nil), (["de-CH"], "de-CH"), (["de-DE", "fr", "zh-Hans-CN"], "de-DE, fr;q=0.8, zh-Hans-CN;q=0.6"),
            (["a", "b", "c", "d", "e", "f"], "a, b;q=0.8, c;q=0.6, d;q=0.4, e;q=0.2"),
            (["", "en\r\nX: y", "ä", "es"], "es"),
        ] as [([String], String?)])
    func header(_ languages: [String], _ expected: String?) {
        #expect(GatewayClient.acceptLanguage(languages) == expected)
    }
}
