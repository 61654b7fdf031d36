import TomboloHTTP

/// Formats the text of a block: emphasis, code, links and line breaks. Everything else is escaped.
struct MarkdownInlines {
    /// How deeply emphasis may be nested. Deeper emphasis has no effect.
    static let maximumDepth = 8

    private enum Piece {
        case text(Range<Int>)
        case plain(String)
        case code(Range<Int>)
        /// A run, by its position in ``emphasis``.
        case run(Int)
        case linkStart(String)
        case linkEnd
        case lineBreak
        case lineEnd
    }

    private let text: MarkdownScalars
    private var pieces: [Piece] = []
    private var position = 0
    /// The start of the text that isn't in a piece yet.
    private var start = 0
    private var emphasis = MarkdownEmphasis()
    private var codeMarks: MarkdownCodeMarks
    /// For each `[` that may begin a link: its piece, and how many runs were waiting before it.
    private var brackets: [(piece: Int, waiting: Int)] = []

    static func html(of text: MarkdownScalars) -> String {
        var inlines = MarkdownInlines(text)
        inlines.read()
        return inlines.html
    }

    private init(_ text: MarkdownScalars) {
        self.text = text
        codeMarks = MarkdownCodeMarks(text)
    }

    // MARK: Reading

    private mutating func read() {
        while position < text.count {
            switch text[position] {
            case "\\": readEscape()
            case "\n": readLineEnd()
            case "`": readCode()
            case "*", "_": readRun()
            case "[":
                add(.text(position..<position + 1), length: 1)
                brackets.append((pieces.count - 1, emphasis.waitingCount))
            case "]": readLinkEnd()
            case "<": readAddress()
            default: position += 1
            }
        }
        flush()
        emphasis.match(behind: 0)
    }

    private mutating func flush() {
        if start < position { pieces.append(.text(start..<position)) }
        start = position
    }

    /// Adds the text before the position, then a piece for the next characters.
    private mutating func add(_ piece: Piece, length: Int) {
        flush()
        pieces.append(piece)
        position += length
        start = position
    }

    private mutating func readEscape() {
        guard position + 1 < text.count else { return position += 1 }
        let next = text[position + 1]
        if next == "\n" {
            add(.lineBreak, length: 2)
        } else if next.isMarkdownPunctuation {
            add(.text(position + 1..<position + 2), length: 2)
        } else {
            position += 1
        }
    }

    /// Two spaces at the end of a line make a line break.
    private mutating func readLineEnd() {
        let end = position
        while position > start, text[position - 1] == " " { position -= 1 }
        let spaces = end - position
        add(spaces >= 2 ? .lineBreak : .lineEnd, length: spaces + 1)
    }

    private func length(of mark: Unicode.Scalar) -> Int {
        (text[position...].firstIndex { $0 != mark } ?? text.count) - position
    }

    private mutating func readCode() {
        let length = length(of: "`")
        let from = position + length
        guard let end = codeMarks.next(ofLength: length, from: from) else { return position = from }
        add(.code(from..<end), length: end + length - position)
    }

    private mutating func readRun() {
        let length = length(of: text[position])
        let (before, end) = (position > 0 ? text[position - 1] : nil, position + length)
        let run = MarkdownEmphasis.Run(
            text[position], length: length, before: before, after: end < text.count ? text[end] : nil)
        add(.run(emphasis.add(run)), length: length)
    }

    private mutating func readLinkEnd() {
        guard let bracket = brackets.popLast(),
            let (address, end) = MarkdownAddress.inParentheses(text, from: position + 1)
        else { return position += 1 }
        flush()
        emphasis.match(behind: bracket.waiting)
        pieces[bracket.piece] = .linkStart(address)
        if !pieces[(bracket.piece + 1)...].contains(where: isVisible) { pieces.append(.plain(address)) }
        add(.linkEnd, length: end - position)
        // A link can't contain another link.
        brackets = []
    }

    private mutating func readAddress() {
        guard let (address, end) = MarkdownAddress.inAngles(text, from: position + 1) else { return position += 1 }
        add(.linkStart(address), length: 0)
        pieces.append(.plain(address))
        add(.linkEnd, length: end - position)
        brackets = []
    }

    private func isVisible(_ piece: Piece) -> Bool {
        switch piece {
        case .text(let range), .code(let range): text[range].contains(where: \.isVisible)
        case .run(let run): emphasis.runs[run].rest > 0
        case .plain: true
        case .linkStart, .linkEnd, .lineBreak, .lineEnd: false
        }
    }

    // MARK: Writing

    private var html: String {
        var html = ""
        var depth = 0
        for piece in pieces {
            switch piece {
            case .text(let range): html += escaped(text[range])
            case .plain(let text): html += HTMLPage.escape(text)
            case .code(let range): html += "<code>\(escaped(code(range)))</code>"
            case .run(let position):
                let run = emphasis.runs[position]
                for strength in run.ends {
                    if depth <= Self.maximumDepth { html += "</\(Self.tag(strength))>" }
                    depth -= 1
                }
                html += String(repeating: String(run.mark), count: run.rest)
                for strength in run.begins.reversed() {
                    depth += 1
                    if depth <= Self.maximumDepth { html += "<\(Self.tag(strength))>" }
                }
            case .linkStart(let address): html += "<a href=\"\(HTMLPage.escape(address))\" rel=\"noopener nofollow\">"
            case .linkEnd: html += "</a>"
            case .lineBreak: html += "<br>\n"
            case .lineEnd: html += "\n"
            }
        }
        return html
    }

    private static func tag(_ strength: Int) -> String { strength == 2 ? "strong" : "em" }

    private func escaped(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        HTMLPage.escape(String(String.UnicodeScalarView(scalars)))
    }

    /// Lines are joined. A space on each side is removed, because it only separates backticks from the code's marks.
    private func code(_ range: Range<Int>) -> ArraySlice<Unicode.Scalar> {
        let code = text[range].map { $0 == "\n" ? " " : $0 }
        guard code.count > 2, code.first == " ", code.last == " ", code.contains(where: { $0 != " " }) else {
            return code[...]
        }
        return code[1..<(code.count - 1)]
    }
}

extension Unicode.Scalar {
    /// Whether somebody can see it.
    var isVisible: Bool {
        !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint && properties.generalCategory != .control
            && properties.generalCategory != .format
    }
}
