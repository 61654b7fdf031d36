/// Splits the source of a template into texts, values, sections and tags. Joined again, they yield the source.
enum TemplatePieces {
    enum Piece {
        case text(String)
        /// `{{name}}`: a value within the text.
        case value(String)
        /// Anything else in double braces: the start or the end of a section, another template, HTML.
        case section(String)
        case tag(Tag)

        var source: String {
            switch self {
            case .text(let text), .value(let text), .section(let text): text
            case .tag(let tag): tag.source
            }
        }
    }

    struct Tag {
        /// `<a href="…">`
        let source: String
        let name: Substring
        let isEnd: Bool

        /// Whether it has no closing tag.
        var isVoid: Bool { ["br", "hr", "img", "input", "link", "meta", "wbr"].contains(name) }

        fileprivate init(_ source: Substring) {
            self.source = String(source)
            isEnd = source.hasPrefix("</")
            name = source.dropFirst(isEnd ? 2 : 1).prefix { $0.isLetter || $0.isNumber || $0 == "!" }
        }
    }

    static func all(of source: String) -> [Piece] {
        var pieces: [Piece] = []
        var text = ""
        func flush() {
            if !text.isEmpty { pieces.append(.text(text)) }
            text = ""
        }
        var rest = source[...]
        while let first = rest.first {
            if rest.hasPrefix("{{") {
                flush()
                let end = endOfBraces(rest)
                let braces = rest[..<end]
                let isValue = braces.dropFirst(2).first.map { $0.isLetter || $0 == "." } ?? false
                pieces.append(isValue ? .value(String(braces)) : .section(String(braces)))
                rest = rest[end...]
            } else if first == "<", rest.dropFirst().first.map({ $0.isLetter || $0 == "/" || $0 == "!" }) ?? false {
                flush()
                let end = endOfTag(rest)
                pieces.append(.tag(Tag(rest[..<end])))
                rest = rest[end...]
            } else {
                text.append(first)
                rest.removeFirst()
            }
        }
        flush()
        return pieces
    }

    /// The end of an attribute's value that has already begun: a quotation mark outside braces.
    static func endOfAttribute(_ text: Substring) -> Substring.Index {
        var rest = text
        while let first = rest.first {
            if rest.hasPrefix("{{") {
                rest = rest[endOfBraces(rest)...]
            } else if first == "\"" {
                return rest.startIndex
            } else {
                rest.removeFirst()
            }
        }
        return text.endIndex
    }

    private static func endOfBraces(_ text: Substring) -> Substring.Index {
        let close = text.hasPrefix("{{{") ? "}}}" : "}}"
        return text.firstRange(of: close)?.upperBound ?? text.endIndex
    }

    private static func endOfTag(_ text: Substring) -> Substring.Index {
        var rest = text
        while let first = rest.first {
            if rest.hasPrefix("{{") {
                rest = rest[endOfBraces(rest)...]
            } else if first == "\"" {
                let value = rest.dropFirst()
                rest = value[endOfAttribute(value)...].dropFirst()
            } else if first == ">" {
                return rest.index(after: rest.startIndex)
            } else {
                rest.removeFirst()
            }
        }
        return text.endIndex
    }
}
