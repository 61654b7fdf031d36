import TomboloLocalization

/// Finds the translatable texts of a template: those between tags, and those in attributes that people see or hear.
///
/// A text includes values (`{{name}}`) and the tags within a sentence, which are numbered: the text of
/// `No <b>{{name}}</b> match.` is `No <1>{{name}}</1> match.`. It ends at other tags and at sections. Code isn't text.
struct TemplateTexts {
    /// Returns the translation of a text; nil leaves it in English.
    typealias Translate = (_ text: String) -> String?

    private static let attributes: Set<Substring> = ["alt", "aria-label", "data-label", "placeholder", "title"]
    /// Tags that may occur within a sentence.
    private static let inline: Set<Substring> = [
        "a", "abbr", "b", "br", "code", "em", "i", "kbd", "small", "span", "strong", "time",
    ]
    private static let code: Set<Substring> = ["code", "kbd", "pre", "script", "style"]

    /// The template in another language.
    static func translated(_ source: String, by translate: Translate) -> String {
        var result = ""
        var run: [Piece] = []
        var isCode = false
        for piece in TemplatePieces.all(of: source) {
            switch piece {
            case .text, .value: run.append(piece)
            case .tag(let tag) where inline.contains(tag.name): run.append(piece)
            case .section, .tag:
                result += isCode ? run.map(\.source).joined() : self.translated(run, by: translate)
                run = []
                if case .tag(let tag) = piece {
                    result += self.tag(tag, by: translate)
                    if code.contains(tag.name) { isCode = !tag.isEnd }
                } else {
                    result += piece.source
                }
            }
        }
        return result + translated(run, by: translate)
    }

    /// The texts of a template, in order.
    static func all(in source: String) -> [String] {
        var found: [String] = []
        _ = translated(source) { text in
            found.append(text)
            return nil
        }
        return found
    }

    typealias Piece = TemplatePieces.Piece
    typealias Tag = TemplatePieces.Tag

    // MARK: Runs

    private static func translated(_ run: [Piece], by translate: Translate) -> String {
        guard let ends = ends(of: run) else {
            // A tag whose counterpart is outside the run separates what precedes it from what follows.
            return run.split(
                omittingEmptySubsequences: false, whereSeparator: { if case .tag = $0 { true } else { false } }
            )
            .enumerated().map { index, part in translated(Array(part), by: translate) }
            .joinedAround(run.compactMap { if case .tag(let tag) = $0 { self.tag(tag, by: translate) } else { nil } })
        }
        var depth = 0
        let isSentence = run.contains { piece in
            switch piece {
            case .tag(let tag):
                if !tag.isVoid { depth += tag.isEnd ? -1 : 1 }
                return false
            case .text(let text): return depth == 0 && hasLetters(text)
            case .value, .section: return false
            }
        }
        if isSentence { return sentence(run, by: translate) }
        // Only the insides of tags may have texts.
        var result = ""
        var index = 0
        while index < run.count {
            guard case .tag(let tag) = run[index], let end = ends[index] else {
                if case .tag(let tag) = run[index] {
                    result += self.tag(tag, by: translate)
                } else {
                    result += run[index].source
                }
                index += 1
                continue
            }
            let inner = Array(run[(index + 1)..<end])
            result += self.tag(tag, by: translate)
            result += code.contains(tag.name) ? inner.map(\.source).joined() : translated(inner, by: translate)
            result += run[end].source
            index = end + 1
        }
        return result
    }

    /// The index of each closing tag in a run, by the index of its opening tag; nil unless all tags are closed within
    /// the run.
    private static func ends(of run: [Piece]) -> [Int: Int]? {
        var open: [(index: Int, name: Substring)] = []
        var ends: [Int: Int] = [:]
        for (index, piece) in run.enumerated() {
            guard case .tag(let tag) = piece, !tag.isVoid else { continue }
            if !tag.isEnd {
                open.append((index, tag.name))
            } else {
                guard let last = open.popLast(), last.name == tag.name else { return nil }
                ends[last.index] = index
            }
        }
        return open.isEmpty ? ends : nil
    }

    private static func sentence(_ run: [Piece], by translate: Translate) -> String {
        var key = ""
        var english = ""
        var tags: [(place: String, tag: String)] = []
        var open: [Int] = []
        for piece in run {
            guard case .tag(let tag) = piece else {
                key += piece.source
                english += piece.source
                continue
            }
            let place: String
            if tag.isEnd {
                place = "</\(open.removeLast())>"
            } else {
                let number = tags.count { !$0.place.hasPrefix("</") } + 1
                if !tag.isVoid { open.append(number) }
                place = tag.isVoid ? "<\(number)/>" : "<\(number)>"
            }
            tags.append((place, self.tag(tag, by: translate)))
            key += place
            english += tags[tags.count - 1].tag
        }
        let (before, text, after) = parts(of: key)
        guard let translation = translate(text) else { return english }
        return before + tags.reduce(escape(translation)) { $0.replacing(escape($1.place), with: $1.tag) } + after
    }

    // MARK: Attributes

    private static func tag(_ tag: Tag, by translate: Translate) -> String {
        guard !tag.isEnd, tag.source.contains("\"") else { return tag.source }
        var result = ""
        var rest = tag.source[...]
        while let quote = rest.firstRange(of: "=\"") {
            let head = rest[..<quote.lowerBound]
            let name = head.lastIndex { $0.isWhitespace || $0 == "}" }.map { head[$0...].dropFirst() } ?? head
            result += rest[..<quote.upperBound]
            rest = rest[quote.upperBound...]
            let end = TemplatePieces.endOfAttribute(rest)
            let value = rest[..<end]
            result += attributes.contains(name) ? attribute(String(value), by: translate) : String(value)
            rest = rest[end...]
        }
        return result + rest
    }

    private static func attribute(_ source: String, by translate: Translate) -> String {
        var result = ""
        var run = ""
        func flush() {
            let (before, text, after) = parts(of: run)
            result += before + (hasLetters(withoutValues(run)) ? translate(text).map(escape) ?? text : text) + after
            run = ""
        }
        for piece in TemplatePieces.all(of: source) {
            if case .section = piece {
                flush()
                result += piece.source
            } else {
                run += piece.source
            }
        }
        flush()
        return result
    }

    // MARK: Texts

    /// The white space around a text, and the text with its white space collapsed.
    private static func parts(of text: String) -> (before: Substring, text: String, after: Substring) {
        let before = text.prefix { $0.isWhitespace }
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.endIndex
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return (before, words, text[max(end, before.endIndex)...])
    }

    private static func withoutValues(_ text: String) -> String { text.replacing(/\{\{[^}]*\}\}/, with: "") }

    private static func hasLetters(_ text: String) -> Bool {
        text.replacing(/&#?\w+;/, with: "").contains { $0.isLetter }
    }

    /// Doesn't escape values in braces: the template escapes them.
    private static func escape(_ text: String) -> String {
        text.replacing(/&(?!#?\w+;)/, with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}

extension [String] {
    /// The elements, interleaved with others.
    fileprivate func joinedAround(_ others: [String]) -> String {
        enumerated().reduce(into: "") { text, item in
            text += item.element
            if others.indices.contains(item.offset) { text += others[item.offset] }
        }
    }
}
