internal import Foundation

/// What string comparisons ignore: `[c]`, `[d]` and `[cd]` in predicates. Two strings match if their folded forms have
/// the same bytes.
///
/// As in Realm, uppercase letters are folded from Basic Latin to Latin Extended-B (U+0000…U+024F), except letters whose
/// lowercase form has more than one code point (`İ`). Diacritics are the marks that canonical decomposition splits off
/// Latin, Greek and Cyrillic letters: `é` and `ё` become `e` and `е`, while `ø`, `ß` and `が` are letters in their own
/// right. Text with diacritics folded is composed (NFC), except for code points beyond U+FFFF, which stay decomposed.
package struct TextFolding: OptionSet, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let letterCase = TextFolding(rawValue: 1)
    package static let diacritics = TextFolding(rawValue: 2)

    package func fold(_ text: String) -> String {
        if isEmpty { return text }
        var text = text
        return text.withUTF8 { String(decoding: fold(utf8: $0), as: UTF8.self) }
    }

    /// The folded form of UTF-8 text, in UTF-8.
    package func fold(utf8 text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        guard !isEmpty else { return Array(text) }
        let foldsCase = contains(.letterCase)
        let latin = latinTable
        var folded: [UInt8] = []
        folded.reserveCapacity(text.count)
        var position = 0
        while position < text.count {
            let byte = text[position]
            if byte < 0x80 {
                folded.append(foldsCase && Self.isUpperCase(byte) ? byte | 0x20 : byte)
                position += 1
                continue
            }
            // U+0080…U+07FF have two bytes.
            if byte & 0xe0 == 0xc0, position + 1 < text.count, text[position + 1] & 0xc0 == 0x80 {
                let scalar = Int(byte & 0x1f) << 6 | Int(text[position + 1] & 0x3f)
                if scalar < Self.latinEnd {
                    folded.append(contentsOf: latin[scalar])
                    position += 2
                    continue
                }
            }
            if contains(.diacritics), byte >= Self.firstLeadOfMarks {
                return foldDecomposing(String(decoding: text, as: UTF8.self))
            }
            folded.append(byte)
            position += 1
        }
        return folded
    }

    /// The first code point after Latin Extended-B.
    private static let latinEnd = 0x250
    /// The lead byte of U+0300…U+033F, the first combining marks. Below them, decomposition has nothing to reorder.
    private static let firstLeadOfMarks: UInt8 = 0xcc
    /// The lead byte of U+10000 and all later code points.
    private static let firstLeadOfFourBytes: UInt8 = 0xf0
    /// The first code point after Cyrillic. Marks of later scripts are part of their letters.
    private static let markedLettersEnd: UInt32 = 0x510

    private static func isUpperCase(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }

    /// Folds any text via its decomposed form.
    private func foldDecomposing(_ text: String) -> [UInt8] {
        let latin = latinTable
        var folded: [UInt8] = []
        var letter: UInt32 = 0
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            if Self.isMark(scalar) {
                if letter >= Self.markedLettersEnd { folded.append(contentsOf: Array(String(scalar).utf8)) }
            } else {
                letter = scalar.value
                if scalar.value < Self.latinEnd {
                    folded.append(contentsOf: latin[Int(scalar.value)])
                } else {
                    folded.append(contentsOf: Array(String(scalar).utf8))
                }
            }
        }
        return Self.composed(folded)
    }

    /// Composes decomposed text canonically, in runs between the code points beyond U+FFFF. Those stay decomposed,
    /// because Foundation on Linux composes them by their lower 16 bits (U+50047 with a caron as `ǧ`).
    private static func composed(_ text: [UInt8]) -> [UInt8] {
        var composed: [UInt8] = []
        composed.reserveCapacity(text.count)
        var start = text.startIndex
        func compose(until end: Int) {
            guard start < end else { return }
            composed += String(decoding: text[start..<end], as: UTF8.self).precomposedStringWithCanonicalMapping.utf8
        }
        while let lead = text[start...].firstIndex(where: { $0 >= firstLeadOfFourBytes }) {
            compose(until: lead)
            let end = min(lead + 4, text.endIndex)
            composed += text[lead..<end]
            start = end
        }
        compose(until: text.endIndex)
        return composed
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    // MARK: Latin

    /// The UTF-8 of each folded letter below ``latinEnd``.
    private var latinTable: [[UInt8]] {
        contains(.diacritics)
            ? (contains(.letterCase) ? Self.latinWithoutBoth : Self.latinWithoutDiacritics) : Self.latinWithoutCase
    }

    private static let latinWithoutCase = latin(.letterCase)
    private static let latinWithoutDiacritics = latin(.diacritics)
    private static let latinWithoutBoth = latin([.letterCase, .diacritics])

    private static func latin(_ folding: TextFolding) -> [[UInt8]] {
        (0..<UInt32(latinEnd)).compactMap(Unicode.Scalar.init).map { scalar in
            var scalar = scalar
            if folding.contains(.diacritics) {
                let decomposed = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars
                if decomposed.dropFirst().allSatisfy(isMark), let letter = decomposed.first { scalar = letter }
            }
            if folding.contains(.letterCase) {
                let lower = scalar.properties.lowercaseMapping.unicodeScalars
                if lower.count == 1, let letter = lower.first { scalar = letter }
            }
            return Array(String(scalar).utf8)
        }
    }
}
