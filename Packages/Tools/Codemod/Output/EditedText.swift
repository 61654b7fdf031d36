/// The result of applying edits: the text, and which lines changed.
struct EditedText {
    let text: String
    let changes: [LineChange]

    /// Applies edits to a source. If edits overlap, the larger one wins.
    init(_ source: SourceText, _ edits: [Edit]) {
        let edits = Self.disjoint(edits)
        let bytes = source.bytes
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + edits.count * 16)
        var changes: [LineChange] = []
        var position = 0
        var edit = 0
        while edit < edits.count {
            // Edits that share a line form a single change.
            let first = source.line(edits[edit].range.lowerBound)
            var last = source.line(edits[edit].range.upperBound)
            var end = edit + 1
            while end < edits.count, source.line(edits[end].range.lowerBound) <= last {
                last = max(last, source.line(edits[end].range.upperBound))
                end += 1
            }
            let span = source.bytes(ofLines: first...last)
            result += bytes[position..<span.lowerBound]
            var replaced: [UInt8] = []
            var from = span.lowerBound
            for edit in edits[edit..<end] {
                replaced += bytes[from..<edit.range.lowerBound]
                replaced += edit.text.utf8
                from = edit.range.upperBound
            }
            replaced += bytes[from..<span.upperBound]
            result += replaced
            position = span.upperBound
            if !replaced.elementsEqual(bytes[span]) {
                let endOfLast = changes.last.map { $0.start + $0.old.count }
                let old = Self.lines(bytes[span])
                let new = Self.lines(replaced[...])
                if endOfLast == first {
                    changes[changes.count - 1].old += old
                    changes[changes.count - 1].new += new
                } else {
                    changes.append(LineChange(start: first, old: old, new: new))
                }
            }
            edit = end
        }
        result += bytes[position...]
        text = String(decoding: result, as: UTF8.self)
        self.changes = changes
    }

    private static func disjoint(_ edits: [Edit]) -> [Edit] {
        // At the same position, insertions come first, followed by the larger edit.
        let sorted = edits.sorted { left, right in
            if left.range.lowerBound != right.range.lowerBound {
                return left.range.lowerBound < right.range.lowerBound
            }
            if left.range.isEmpty != right.range.isEmpty { return left.range.isEmpty }
            return left.range.upperBound > right.range.upperBound
        }
        var result: [Edit] = []
        for edit in sorted {
            if let last = result.last, edit.range.lowerBound < last.range.upperBound { continue }
            if let last = result.last, last.range == edit.range, !edit.range.isEmpty { continue }
            result.append(edit)
        }
        return result
    }

    /// Lines including their line endings.
    static func lines(_ bytes: ArraySlice<UInt8>) -> [String] {
        var lines: [String] = []
        var start = bytes.startIndex
        var position = start
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            let isPair =
                byte == UInt8(ascii: "\r") && position < bytes.endIndex && bytes[position] == UInt8(ascii: "\n")
            if isPair || (byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\r")) { continue }
            lines.append(String(decoding: bytes[start..<position], as: UTF8.self))
            start = position
        }
        if start < bytes.endIndex { lines.append(String(decoding: bytes[start...], as: UTF8.self)) }
        return lines
    }
}
