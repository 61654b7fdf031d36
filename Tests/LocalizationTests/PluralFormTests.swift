import Testing
import TomboloLocalization

@Suite struct PluralFormTests {
    /// The forms that a rule gives for some numbers, one letter each.
    private static func forms(_ rule: String, count: Int, of numbers: [Int]) throws -> String {
        let letters = "abcdef".prefix(count)
        var text =
            "msgid \"\"\nmsgstr \"Language: xx\\nPlural-Forms: \(rule)\\n\"\nmsgid \"one\"\nmsgid_plural \"other\"\n"
        for (index, letter) in letters.enumerated() { text += "msgstr[\(index)] \"\(letter)\"\n" }
        let catalogue = try MessageCatalogue(POFile(text))
        return MessageCatalogue.$current.withValue(catalogue) {
            numbers.map { localized($0, one: "one", other: "other") }.joined()
        }
    }

    @Test("the rules of languages with one to six forms give the right form for each number")
    func languages() throws {
        #expect(try Self.forms("nplurals=1; plural=0;", count: 1, of: [0, 1, 2, 100]) == "aaaa")
        #expect(try Self.forms("nplurals=2; plural=(n > 1);", count: 2, of: [0, 1, 2]) == "aab")
        let russian =
            "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
        #expect(try Self.forms(russian, count: 3, of: [1, 2, 5, 11, 12, 21, 22, 25, 111]) == "abcccabcc")
        let arabic =
            "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);"
        #expect(try Self.forms(arabic, count: 6, of: [0, 1, 2, 3, 11, 100, 103]) == "abcdefd")
        #expect(try Self.forms("nplurals=2; plural=!(n == 1);", count: 2, of: [1, 2]) == "ab")
        // Whatever a rule evaluates to, there is a form.
        #expect(try Self.forms("nplurals=2; plural=n % 0 + 0;".replacing(" + 0", with: ""), count: 2, of: [1]) == "a")
        #expect(try Self.forms("nplurals=2; plural=99;", count: 2, of: [1]) == "b")
    }

    @Test("a deeply nested expression is refused")
    func depth() {
        let deep = String(repeating: "(", count: 400) + "n" + String(repeating: ")", count: 400)
        #expect(throws: POError.self) { try Self.forms("nplurals=2; plural=\(deep);", count: 2, of: [1]) }
        let nots = String(repeating: "!", count: 400) + "n"
        #expect(throws: POError.self) { try Self.forms("nplurals=2; plural=\(nots);", count: 2, of: [1]) }
    }
}
