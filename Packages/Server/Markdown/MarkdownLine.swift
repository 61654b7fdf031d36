/// The rest of a line, after blocks that it continues or begins have taken their marks from its start.
struct MarkdownLine {
    /// What a line that begins a list item says about the list.
    struct Marker {
        /// `-`, `+`, `*`, `.` or `)`. A different mark begins another list.
        let mark: Unicode.Scalar
        /// Nil for a bullet.
        let number: Int?
        /// The indentation of lines that continue the item.
        let indentation: Int
    }

    /// Lines that are indented by at least this many columns are code.
    static let codeIndentation = 4
    private static let maximumHeadingLevel = 6
    /// More digits would overflow the integers of browsers.
    private static let maximumDigitCount = 9

    private(set) var rest: ArraySlice<Unicode.Scalar>
    /// The column at which `rest` begins, needed for tabs.
    private var column = 0
    /// The width of the whitespace that `rest` begins with, and the position of its first character after it.
    private(set) var indentation = 0
    private var first = 0

    init(_ line: ArraySlice<Unicode.Scalar>) {
        rest = line
        measure()
    }

    private mutating func measure() {
        indentation = 0
        first = rest.startIndex
        while first < rest.endIndex {
            switch rest[first] {
            case " ": indentation += 1
            case "\t": indentation += 4 - (column + indentation) % 4
            default: return
            }
            first += 1
        }
    }

    var isBlank: Bool { first == rest.endIndex }
    /// Whether it is indented so far that it can only begin code.
    var isIndented: Bool { indentation >= Self.codeIndentation }

    /// Without the whitespace at its start.
    var text: ArraySlice<Unicode.Scalar> { rest[first...] }

    /// Removes whitespace from the start, up to this many columns.
    mutating func takeIndentation(_ columns: Int) {
        let end = column + columns
        while column < end, let next = rest.first, next == " " || next == "\t" {
            column += next == " " ? 1 : 4 - column % 4
            rest = rest.dropFirst()
        }
        measure()
    }

    private mutating func take(_ count: Int) {
        column += indentation + count
        rest = rest[(first + count)...]
        measure()
    }

    // MARK: Blocks

    /// Removes the mark of a quote.
    /// - Returns: false if there is none.
    mutating func takeQuote() -> Bool {
        guard !isIndented, text.first == ">" else { return false }
        take(1)
        if indentation > 0 { takeIndentation(1) }
        return true
    }

    /// Three or more of `-`, `*` or `_`, with nothing but whitespace between them.
    var isRule: Bool {
        guard !isIndented, let mark = text.first, "-*_".unicodeScalars.contains(mark) else { return false }
        var count = 0
        for scalar in text {
            if scalar == mark { count += 1 } else if scalar != " ", scalar != "\t" { return false }
        }
        return count >= 3
    }

    /// A heading that begins with `#`.
    var heading: (level: Int, text: MarkdownScalars)? {
        guard !isIndented else { return nil }
        let level = text.prefix { $0 == "#" }.count
        let title = text.dropFirst(level)
        guard (1...Self.maximumHeadingLevel).contains(level), title.first.map(Self.isSpace) ?? true else { return nil }
        var kept = Self.trimmed(title)
        let closing = kept.reversed().prefix { $0 == "#" }.count
        if closing > 0, kept.dropLast(closing).last.map(Self.isSpace) ?? true {
            kept = Self.trimmed(kept.dropLast(closing))
        }
        return (level, Array(kept))
    }

    /// The level of the heading that the paragraph above becomes, if this line underlines it with `===` or `---`.
    var underline: Int? {
        guard !isIndented, let mark = text.first, mark == "=" || mark == "-",
            Self.trimmed(text).allSatisfy({ $0 == mark })
        else { return nil }
        return mark == "=" ? 1 : 2
    }

    /// The mark that begins fenced code, and its length. The same mark ends it.
    var fence: (mark: Unicode.Scalar, count: Int)? {
        guard !isIndented, let mark = text.first, mark == "`" || mark == "~" else { return nil }
        let count = text.prefix { $0 == mark }.count
        guard count >= 3, mark == "~" || !text.dropFirst(count).contains("`") else { return nil }
        return (mark, count)
    }

    func closes(_ fence: (mark: Unicode.Scalar, count: Int)) -> Bool {
        guard !isIndented else { return false }
        let line = Self.trimmed(text)
        return line.count >= fence.count && line.allSatisfy { $0 == fence.mark }
    }

    /// Removes the mark of a list item.
    /// - Parameter isInParagraph: whether the item would end a paragraph. Only an item that has text can, and in a
    ///   numbered list only one with the number 1.
    /// - Returns: nil if there is none.
    mutating func takeMarker(isInParagraph: Bool) -> Marker? {
        guard !isIndented, let mark = text.first else { return nil }
        var count = 1
        var number: Int?
        var delimiter = mark
        if ("0"..."9").contains(mark) {
            let digits = text.prefix(Self.maximumDigitCount + 1).prefix { ("0"..."9").contains($0) }
            guard digits.count <= Self.maximumDigitCount, let next = text.dropFirst(digits.count).first,
                next == "." || next == ")"
            else { return nil }
            number = digits.reduce(0) { $0 * 10 + Int($1.value - 48) }
            count = digits.count + 1
            delimiter = next
        } else if !"-+*".unicodeScalars.contains(mark) {
            return nil
        }
        let after = text.dropFirst(count)
        guard after.first.map(Self.isSpace) ?? true else { return nil }
        if isInParagraph, number ?? 1 != 1 || after.allSatisfy(Self.isSpace) { return nil }
        let width = indentation + count
        take(count)
        // After more than four columns, the text is code, and the item's content begins one column after the mark.
        let gap = isBlank || indentation > Self.codeIndentation ? 1 : indentation
        takeIndentation(gap)
        return Marker(mark: delimiter, number: number, indentation: width + gap)
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    private static func trimmed(_ text: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text = text.dropLast() }
        return text
    }
}
