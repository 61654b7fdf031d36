internal import Yams

/// Edits the text of a rule document in the places that list roles. Its caller reads the result to check each edit,
/// since unusually written text may come out wrong here.
struct RoleEditor {
    private(set) var text: String
    /// The line of the last search, for errors.
    private(set) var line = 1

    init(_ text: String) { self.text = text }

    typealias Scalars = String.UnicodeScalarView

    var start: Scalars.Index {
        let scalars = text.unicodeScalars
        return scalars.first == "\u{FEFF}" ? scalars.index(after: scalars.startIndex) : scalars.startIndex
    }

    var root: Node? {
        try? Yams.compose(yaml: String(text.unicodeScalars[start...]), .default, .default, .utf8)
    }

    /// The range of a scalar in the text, with its quotes.
    mutating func range(of node: Node) -> Range<Scalars.Index>? {
        guard case .scalar(let scalar) = node, let mark = scalar.mark else { return nil }
        line = mark.line
        let scalars = text.unicodeScalars
        guard let begin = scalars.index(of: mark, from: start) else { return nil }
        let quotes: Int
        switch scalar.style {
        case .plain: quotes = 0
        case .singleQuoted, .doubleQuoted: quotes = 1
        default: return nil
        }
        let count = scalar.string.unicodeScalars.count + 2 * quotes
        guard let end = scalars.index(begin, offsetBy: count, limitedBy: scalars.endIndex),
            scalars[begin..<end].dropFirst(quotes).dropLast(quotes).elementsEqual(scalar.string.unicodeScalars)
        else { return nil }
        return begin..<end
    }

    /// Whether a list or a mapping that begins here is written in brackets. The parser's own flag for this isn't
    /// reliable.
    func isFlow(_ mark: Mark?) -> Bool {
        let scalars = text.unicodeScalars
        guard let mark, let index = scalars.index(of: mark, from: start), index < scalars.endIndex else { return false }
        return scalars[index] == "[" || scalars[index] == "{"
    }

    mutating func replace(_ range: Range<Scalars.Index>, with new: String) {
        var scalars = text.unicodeScalars
        scalars.replaceSubrange(range, with: new.unicodeScalars)
        text = String(scalars)
    }

    func lineStart(_ index: Scalars.Index) -> Scalars.Index {
        let scalars = text.unicodeScalars
        var index = index
        while index > start, !Self.isBreak(scalars[scalars.index(before: index)]) {
            index = scalars.index(before: index)
        }
        return index
    }

    /// The index after the line break, or the end of the text.
    func lineEnd(_ index: Scalars.Index) -> Scalars.Index {
        let scalars = text.unicodeScalars
        var index = index
        while index < scalars.endIndex, !Self.isBreak(scalars[index]) { index = scalars.index(after: index) }
        guard index < scalars.endIndex else { return index }
        let isReturn = scalars[index] == "\r"
        index = scalars.index(after: index)
        if isReturn, index < scalars.endIndex, scalars[index] == "\n" { index = scalars.index(after: index) }
        return index
    }

    static func isBreak(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" || scalar == "\r" }

    /// The document's line break.
    var lineBreak: String { text.unicodeScalars.contains("\r") ? "\r\n" : "\n" }

    // MARK: The list of roles

    /// The list `roles` of the first grant declaration.
    private var list: Node? {
        guard let grants = root?.value("grants") else { return nil }
        let first: Node? = if case .sequence(let sequence) = grants { sequence.first } else { grants }
        return first?.value("roles")
    }

    /// Whether grants list their roles at all. Grants without a list may give any role.
    var listsRoles: Bool { list != nil }

    private func listed() -> Node.Sequence? {
        guard case .sequence(let roles)? = list, !roles.isEmpty else { return nil }
        return roles
    }

    mutating func insertListed(_ name: String) -> Bool {
        guard listsRoles else { return true }
        guard let roles = listed(), let last = roles.last, let found = range(of: last) else { return false }
        if isFlow(roles.mark) {
            // Quoted like its neighbour, so that JSON stays JSON.
            let isQuoted = text.unicodeScalars[found.lowerBound] == "\""
            replace(found.upperBound..<found.upperBound, with: isQuoted ? ", \"\(name)\"" : ", \(name)")
        } else {
            let begin = lineStart(found.lowerBound)
            let before = String(text.unicodeScalars[begin..<found.lowerBound])
            guard before.allSatisfy({ $0 == " " || $0 == "-" }) else { return false }
            insert("\(before)\(name)", afterLineOf: found.upperBound)
        }
        return true
    }

    mutating func removeListed(_ name: String) -> Bool {
        guard listsRoles else { return true }
        guard let roles = listed(), roles.count > 1,
            let position = roles.firstIndex(where: { $0.scalar?.string == name }),
            let found = range(of: roles[position])
        else { return false }
        if !isFlow(roles.mark) {
            let before = text.unicodeScalars[lineStart(found.lowerBound)..<found.lowerBound]
            guard before.allSatisfy({ $0 == " " || $0 == "-" }) else { return false }
            replace(lineStart(found.lowerBound)..<lineEnd(found.upperBound), with: "")
        } else if position > 0, let previous = range(of: roles[position - 1]) {
            replace(previous.upperBound..<found.upperBound, with: "")
        } else if let next = range(of: roles[position + 1]) {
            replace(found.lowerBound..<next.lowerBound, with: "")
        } else {
            return false
        }
        return true
    }

    mutating func renameListed(_ name: String, to new: String) -> Bool {
        guard listsRoles else { return true }
        guard let found = listed()?.first(where: { $0.scalar?.string == name }).flatMap({ range(of: $0) }) else {
            return false
        }
        let isQuoted = text.unicodeScalars[found.lowerBound] == "\""
        replace(found, with: isQuoted ? "\"\(new)\"" : new)
        return true
    }

    mutating func insert(_ new: String, afterLineOf index: Scalars.Index) {
        let end = lineEnd(index)
        let scalars = text.unicodeScalars
        let hasBreak = end > start && Self.isBreak(scalars[scalars.index(before: end)])
        replace(end..<end, with: hasBreak ? new + lineBreak : lineBreak + new)
    }
}
