/// Parses the blocks of a text line by line, as described in CommonMark's "A parsing strategy": each line continues
/// open blocks, begins others, and leaves the rest as text to the innermost. A line is examined once for each open
/// block. There are few of these, so the time is linear in the length of the text.
struct MarkdownBlockParser {
    /// How deeply quotes and list items may be nested. Marks beyond that are text.
    static let maximumDepth = 6

    private final class Node {
        enum Kind {
            case document, quote, item(indentation: Int), paragraph, heading(level: Int), rule
            case list(mark: Unicode.Scalar, start: Int?)
            case code(fence: (mark: Unicode.Scalar, count: Int)?, indentation: Int)
        }

        var kind: Kind
        var children: [Node] = []
        var text: MarkdownScalars = []
        /// For a list: whether a blank line separates its items, or the blocks of an item.
        var isLoose = false

        init(_ kind: Kind) { self.kind = kind }

        var isParagraph: Bool { if case .paragraph = kind { true } else { false } }
        var isCode: Bool { if case .code = kind { true } else { false } }
        /// Whether it counts towards the depth.
        var isNesting: Bool {
            switch kind {
            case .quote, .item: true
            case .document, .list, .code, .paragraph, .heading, .rule: false
            }
        }

        func add(_ line: ArraySlice<Unicode.Scalar>) {
            text += line
            text.append("\n")
        }
    }

    /// The blocks that the next line may continue, each nested in the previous one.
    private var open = [Node(.document)]
    /// Whether the previous line was blank.
    private var isAfterBlank = false

    static func blocks(of text: String) -> [MarkdownBlock] {
        var parser = MarkdownBlockParser()
        for line in withPlainLineEnds(text).split(separator: "\n", omittingEmptySubsequences: false) {
            parser.read(MarkdownLine(line))
        }
        return parser.open[0].children.map(block)
    }

    /// Replaces CR LF and CR by LF.
    private static func withPlainLineEnds(_ text: String) -> MarkdownScalars {
        var result: MarkdownScalars = []
        result.reserveCapacity(text.utf8.count)
        var isAfterReturn = false
        for scalar in text.unicodeScalars {
            if scalar != "\n" || !isAfterReturn { result.append(scalar == "\r" ? "\n" : scalar) }
            isAfterReturn = scalar == "\r"
        }
        return result
    }

    private mutating func read(_ line: MarkdownLine) {
        var line = line
        var count = 1
        while count < open.count, continues(open[count], &line) { count += 1 }
        let innermost = open[open.count - 1]
        let isWhole = count == open.count
        if isWhole, case .code(let fence, _) = innermost.kind {
            isAfterBlank = fence == nil && line.isBlank
            if let fence, line.closes(fence) { open.removeLast() } else { innermost.add(line.rest) }
            return
        }
        if line.isBlank {
            open.removeLast(open.count - count)
            isAfterBlank = true
            return
        }
        if isWhole, innermost.isParagraph {
            if let level = line.underline {
                innermost.kind = .heading(level: level)
                open.removeLast()
                return
            }
            // Other blocks begin as siblings of a paragraph, not inside it.
            count -= 1
        }
        var isBegun = false
        while !line.isBlank,
            let node = begin(&line, in: count, after: isBegun ? nil : innermost, isInterrupting: isWhole && !isBegun)
        {
            count = add(node, to: count)
            isBegun = true
        }
        if !isBegun, innermost.isParagraph {
            // This includes a line that lacks the marks of the quotes and list items around the paragraph.
            innermost.add(line.text)
        } else if !line.isBlank {
            let last = open[count - 1]
            if last.isCode {
                last.add(line.rest)
            } else {
                let paragraph = Node(.paragraph)
                paragraph.add(line.text)
                _ = add(paragraph, to: count)
            }
        }
        isAfterBlank = false
    }

    /// Whether a line continues a block. If so, the block's marks are removed from the line.
    private func continues(_ node: Node, _ line: inout MarkdownLine) -> Bool {
        switch node.kind {
        case .document, .list: return true
        case .quote: return line.takeQuote()
        case .item(let indentation):
            // A list item that begins with a blank line ends at the next one.
            if line.isBlank { return !node.children.isEmpty }
            guard line.indentation >= indentation else { return false }
            line.takeIndentation(indentation)
            return true
        case .paragraph: return !line.isBlank
        case .code(.some, let indentation):
            line.takeIndentation(indentation)
            return true
        case .code(nil, _):
            guard line.isIndented || line.isBlank else { return false }
            line.takeIndentation(MarkdownLine.codeIndentation)
            return true
        case .heading, .rule: return false
        }
    }

    /// The block that a line begins inside the first `count` open blocks, or nil for text.
    /// - Parameters:
    ///   - before: the block that the line would continue as text, if it's a paragraph. Nil after the line's first
    ///     mark.
    ///   - isInterrupting: whether a new block would end that paragraph in place.
    private func begin(
        _ line: inout MarkdownLine, in count: Int, after before: Node?, isInterrupting: Bool
    ) -> Node? {
        let isInParagraph = before?.isParagraph ?? false
        if open[count - 1].isCode { return nil }
        if line.isIndented {
            // The text of a paragraph may be indented.
            guard !isInParagraph else { return nil }
            line.takeIndentation(MarkdownLine.codeIndentation)
            return Node(.code(fence: nil, indentation: 0))
        }
        if let fence = line.fence {
            let node = Node(.code(fence: fence, indentation: line.indentation))
            line = MarkdownLine([])
            return node
        }
        if let heading = line.heading {
            let node = Node(.heading(level: heading.level))
            node.text = heading.text
            line = MarkdownLine([])
            return node
        }
        if line.isRule {
            line = MarkdownLine([])
            return Node(.rule)
        }
        guard open[..<count].count(where: \.isNesting) < Self.maximumDepth else { return nil }
        if line.takeQuote() { return Node(.quote) }
        guard let marker = line.takeMarker(isInParagraph: isInParagraph && isInterrupting) else { return nil }
        let list = Node(.list(mark: marker.mark, start: marker.number))
        list.children = [Node(.item(indentation: marker.indentation))]
        return list
    }

    /// Adds a block inside the first `count` open blocks, and closes the others.
    /// - Returns: the number of open blocks afterwards.
    private mutating func add(_ node: Node, to count: Int) -> Int {
        var node = node
        open.removeLast(open.count - count)
        if case .list(let mark, let start) = open[open.count - 1].kind {
            if case .list(mark, let other) = node.kind, (other == nil) == (start == nil) {
                // Another item of the list that is already open.
                node = node.children[0]
            } else {
                open.removeLast()
            }
        }
        let parent = open[open.count - 1]
        if isAfterBlank, !parent.children.isEmpty {
            if case .list = parent.kind { parent.isLoose = true }
            if case .item = parent.kind { open[open.count - 2].isLoose = true }
        }
        isAfterBlank = false
        parent.children.append(node)
        switch node.kind {
        case .heading, .rule: break
        case .list: open += [node, node.children[0]]
        default: open.append(node)
        }
        return open.count
    }

    private static func block(_ node: Node) -> MarkdownBlock {
        switch node.kind {
        case .paragraph: .paragraph(node.text.dropLast(while: \.properties.isWhitespace))
        case .heading(let level): .heading(level: level, node.text.dropLast(while: \.properties.isWhitespace))
        case .rule: .rule
        // Blank lines after indented code aren't part of it.
        case .code(nil, _): .code(node.text.dropLast { $0 == "\n" || $0 == " " } + ["\n"])
        case .code: .code(node.text)
        case .quote, .document, .item: .quote(node.children.map(block))
        case .list(_, let start):
            .list(start: start, isLoose: node.isLoose, items: node.children.map { $0.children.map(block) })
        }
    }
}

extension MarkdownScalars {
    /// Drops the scalars at the end that meet a condition.
    func dropLast(while isLeftOut: (Unicode.Scalar) -> Bool) -> MarkdownScalars {
        var end = endIndex
        while end > startIndex, isLeftOut(self[end - 1]) { end -= 1 }
        return Array(self[..<end])
    }
}
