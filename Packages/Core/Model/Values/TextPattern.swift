/// The pattern of a LIKE predicate: `*` stands for any text, also none, and `?` for one code point. Neither can be
/// escaped, as in Realm.
///
/// Matching takes time in proportion to the text, whatever the pattern: between two `*` the first occurrence is always
/// the right one, so that nothing is tried twice. Only parts with `?` between two `*` take as long again for every 64
/// code points they have.
package struct TextPattern: Sendable {
    private let folding: TextFolding
    /// What stands before the first `*`, or all of a pattern without.
    private let start: TextPatternPart
    /// What stands between two `*`, without empty parts.
    private let middle: [TextPatternPart]
    /// What stands after the last `*`; `nil` without a `*`.
    private let end: TextPatternPart?

    package init(_ pattern: String, folding: TextFolding = []) {
        self.folding = folding
        let parts = folding.fold(pattern).utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        start = TextPatternPart(Array(parts[0]))
        middle = parts.dropFirst().dropLast().filter { !$0.isEmpty }.map { TextPatternPart(Array($0)) }
        end = parts.count > 1 ? parts.last.map { TextPatternPart(Array($0)) } : nil
    }

    package func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches(utf8: $0) }
    }

    /// Whether UTF-8 text matches. Bytes that are not UTF-8 match nothing but wildcards.
    package func matches(utf8 text: UnsafeBufferPointer<UInt8>) -> Bool {
        if folding.isEmpty { return matches(folded: text) }
        return folding.fold(utf8: text).withUnsafeBufferPointer { matches(folded: $0) }
    }

    private func matches(folded text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard var position = start.match(text, at: 0) else { return false }
        guard let end else { return position == text.count }
        for part in middle {
            guard let next = part.find(text, from: position) else { return false }
            position = next
        }
        return end.matchesEnd(of: text, from: position)
    }
}
