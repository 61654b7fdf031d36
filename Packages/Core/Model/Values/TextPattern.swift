/// The pattern of a LIKE predicate: `*` matches any string, including the empty one, and `?` matches one code point. As
/// in Realm, neither can be escaped.
///
/// Matching takes time linear in the text, whatever the pattern: for a part between two `*`, the first occurrence is
/// always right, so there is no backtracking. Only a part that contains `?` and lies between two `*` takes that time
/// again for every 64 code points.
package struct TextPattern: Sendable {
    private let folding: TextFolding
    /// The part before the first `*`, or the whole pattern if it has none.
    private let start: TextPatternPart
    /// The nonempty parts between two `*`.
    private let middle: [TextPatternPart]
    /// The part after the last `*`, or nil if there is no `*`.
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

    /// Whether UTF-8 text matches. Bytes that aren't UTF-8 match only wildcards.
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
