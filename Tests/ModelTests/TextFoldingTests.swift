import Foundation
import RandomValues
import Testing
import TomboloModel

@Suite("Text folding")
struct TextFoldingTests {
    @Test(
        "Case is folded from Basic Latin to Latin Extended-B",
        arguments: [
            ("ABC xyz 09[]@`{", "abc xyz 09[]@`{"), ("ÀÉÎÕÜÞ×", "àéîõüþ×"), ("ĀĞŁŽŒ", "āğłžœ"), ("ƁǄȘȺ", "ɓǆșⱥ"),
            ("ß", "ß"), ("İ", "İ"), ("É", "é"), ("E\u{301}", "e\u{301}"), ("ΑΒΓ", "ΑΒΓ"), ("АБВ", "АБВ"), ("Ḁ", "Ḁ"),
            ("", ""),
            ("K", "k"), ("\u{212a}", "\u{212a}"), ("\u{1F600}A", "\u{1F600}a"), ("A\u{0}B", "a\u{0}b"),
        ])
    func letterCase(text: String, folded: String) {
        #expect(Array(TextFolding.letterCase.fold(text).utf8) == Array(folded.utf8))
    }

    @Test(
        "Diacritics are removed from Latin, Greek and Cyrillic letters, composed or not",
        arguments: [
            ("Crème Brûlée", "Creme Brulee"), ("e\u{301}\u{327}x", "ex"), ("ÅÄÖ", "AAO"), ("Ǭǖ", "Ou"),
            ("Việt", "Viet"),
            ("øłđßæ", "øłđßæ"), ("άΐ", "αι"), ("ёй", "еи"), ("\u{301}", ""), ("が", "が"), ("か\u{3099}", "が"),
            ("한글", "한글"), ("नी़", "नी़"), ("İ", "I"), ("\u{212b}", "A"), ("日本é", "日本e"),
            // Code points that Foundation on Linux composes as if they were U+0047, U+0399 and U+1F08.
            ("\u{50047}\u{30c}", "\u{50047}\u{30c}"), ("e\u{301}\u{50399}\u{301}e\u{301}", "e\u{50399}\u{301}e"),
            ("\u{11f08}\u{342}が", "\u{11f08}\u{342}が"),
        ])
    func diacritics(text: String, folded: String) {
        #expect(Array(TextFolding.diacritics.fold(text).utf8) == Array(folded.utf8))
    }

    @Test(
        "Case and diacritics fold together",
        arguments: [("ÉCOLE", "ecole"), ("İstanbul", "istanbul"), ("Ёж Ḁ", "Еж a"), ("ǅ", "ǆ"), ("Ǻ日", "a日")])
    func both(text: String, folded: String) {
        #expect(Array(TextFolding([.letterCase, .diacritics]).fold(text).utf8) == Array(folded.utf8))
    }

    @Test("Folding is idempotent, and canonically equivalent texts fold alike")
    func stable() {
        var random = RandomValues(.printed(for: "stable"))
        for _ in 0..<5_000 {
            let text = String(
                String.UnicodeScalarView(
                    (0..<random.int(0...6)).compactMap { _ in
                        Unicode.Scalar(
                            UInt32(random.int(random.pick([0...0x24f, 0x300...0x370, 0...0x2fff, 0xac00...0x10ffff]))))
                    }))
            for folding in [[], .letterCase, .diacritics, [.letterCase, .diacritics]] as [TextFolding] {
                let folded = folding.fold(text)
                #expect(Array(folding.fold(folded).utf8) == Array(folded.utf8), "\(text.unicodeScalars.map(\.value))")
                if folding.contains(.diacritics) {
                    var equal = [text.decomposedStringWithCanonicalMapping]
                    // Foundation on Linux composes code points beyond U+FFFF wrongly.
                    if text.unicodeScalars.allSatisfy({ $0.value <= 0xffff }) {
                        equal.append(text.precomposedStringWithCanonicalMapping)
                    }
                    for other in equal {
                        #expect(
                            Array(folding.fold(other).utf8) == Array(folded.utf8), "\(text.unicodeScalars.map(\.value))"
                        )
                    }
                }
            }
        }
    }

    @Test("Bytes that aren't UTF-8 do no harm")
    func brokenBytes() {
        for bytes in [[0xc3], [0xc3, 0x41], [0x80], [0xff, 0x41], [0xcc], [0xe2, 0x82], [0xf0]] as [[UInt8]] {
            for folding in [.letterCase, .diacritics, [.letterCase, .diacritics]] as [TextFolding] {
                let folded = bytes.withUnsafeBufferPointer { folding.fold(utf8: $0) }
                #expect(folded.contains(0x61) == (bytes.contains(0x41) && folding.contains(.letterCase)))
                _ = bytes.withUnsafeBufferPointer { TextPattern("*?a?", folding: folding).matches(utf8: $0) }
            }
        }
    }
}
