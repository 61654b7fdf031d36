public import TomboloRules
internal import Yams

/// The text of a rule document. Edits replace single values: comments, order and whitespace stay as people wrote them.
public struct RuleText: Sendable {
    /// The document's text.
    public let text: String
    /// The document's name, for messages.
    public let file: String
    let node: RuleNode
    /// The document's matrix.
    public let matrix: PermissionMatrix

    /// - Throws: ``MatrixEditError`` if the document can't be read or has no matrix.
    public init(_ text: String, file: String) throws(MatrixEditError) {
        self.text = text
        self.file = file
        do throws(RuleError) {
            node = try RuleNode(parsing: text, file: file)
        } catch {
            throw .mistakes(error)
        }
        guard let matrix = RuleBook(node, file: file).matrix else { throw .noMatrix }
        self.matrix = matrix
    }

    /// The same document with one box of its matrix ticked or emptied. Nothing else changes, neither the other bytes
    /// nor what aliases stand for.
    /// - Throws: ``MatrixEditError``.
    public func setting(_ box: PermissionMatrix.Box, to isPermitted: Bool) throws(MatrixEditError) -> RuleText {
        guard matrix.rows.contains(box.role) else { throw .unknownRole(box.role, known: matrix.rows) }
        let services = matrix.services.map(\.name)
        guard services.contains(box.service) else { throw .unknownService(box.service, known: services) }
        guard matrix.has(box) else { throw .unknownOperation(box.operation.name) }
        guard matrix.permits(box) != isPermitted else { return self }
        if isPermitted, !matrix.counts(box) {
            throw .countsNowhere(box, isEverywhere: !matrix.roles.contains(box.role))
        }
        let permitted = PermissionMatrix.operations.filter { operation in
            if operation == box.operation { return isPermitted }
            return matrix.permits(.init(role: box.role, service: box.service, operation: operation))
        }
        guard permitted.isEmpty || permitted.contains(.read) else { throw .needsRead(box) }

        let section = matrix.roles.contains(box.role) ? "roles" : "everywhere"
        guard let place = Self.place(of: [section, box.role, box.service], in: text) else {
            throw .notPlain(box, line: node.line)
        }
        var result = text.unicodeScalars
        result.replaceSubrange(
            place.range, with: PermissionMatrix.letters { permitted.contains($0) }.unicodeScalars)
        let edited = try RuleText(String(result), file: file)
        guard edited.matrix.differences(from: matrix) == [box], edited.node.differenceCount(from: node) == 1 else {
            throw .notPlain(box, line: place.line)
        }
        return edited
    }

    /// The same for a user box.
    /// - Throws: ``MatrixEditError``.
    public func setting(_ box: PermissionMatrix.UserBox, to isPermitted: Bool) throws(MatrixEditError) -> RuleText {
        guard matrix.userPermissions.contains(box.permission) else {
            throw .unknownPermission(box.permission, known: matrix.userPermissions)
        }
        guard matrix.userGroups.contains(box.group) else { throw .unknownGroup(box.group, known: matrix.userGroups) }
        guard matrix.permits(box) != isPermitted else { return self }
        guard let place = Self.place(of: ["permissions", box.permission, box.group], in: text) else {
            throw .userBoxNotPlain(box, line: node.line)
        }
        var result = text.unicodeScalars
        result.replaceSubrange(place.range, with: (isPermitted ? "true" : "false").unicodeScalars)
        let edited = try RuleText(String(result), file: file)
        guard edited.matrix.userDifferences(from: matrix) == [box], edited.node.differenceCount(from: node) == 1 else {
            throw .userBoxNotPlain(box, line: place.line)
        }
        return edited
    }

    // MARK: Finding a value

    /// The place of a value of the matrix in the text, without quotes; nil if it can't be told for sure.
    /// - Parameter path: the keys from the matrix to the value.
    private static func place(
        of path: [String], in text: String
    ) -> (range: Range<String.UnicodeScalarView.Index>, line: Int)? {
        let scalars = text.unicodeScalars
        // The parser skips a byte order mark.
        let start = scalars.first == "\u{FEFF}" ? scalars.index(after: scalars.startIndex) : scalars.startIndex
        guard let root = try? Yams.compose(yaml: String(scalars[start...]), .default, .default, .utf8),
            let cell = path.reduce(root.value("matrix"), { $0?.value($1) }),
            case .scalar(let scalar) = cell, let mark = scalar.mark,
            var index = scalars.index(of: mark, from: start)
        else { return nil }
        switch scalar.style {
        case .plain: break
        case .singleQuoted, .doubleQuoted: index = scalars.index(after: index)
        default: return nil
        }
        let written = scalar.string.unicodeScalars
        guard let end = scalars.index(index, offsetBy: written.count, limitedBy: scalars.endIndex),
            scalars[index..<end].elementsEqual(written)
        else { return nil }
        return (index..<end, mark.line)
    }
}

extension Node {
    /// A value that is written in the mapping itself, not merged into it.
    func value(_ key: String) -> Node? {
        guard case .mapping(let mapping) = self else { return nil }
        for (name, value) in mapping {
            if case .scalar(let scalar) = name, scalar.string == key { return value }
        }
        return nil
    }
}

extension String.UnicodeScalarView {
    /// The index of a mark. Marks count lines and columns like libyaml does, which uses YAML 1.1's line breaks.
    func index(of mark: Mark, from start: Index) -> Index? {
        var (index, line, column) = (start, 1, 1)
        while line < mark.line || line == mark.line && column < mark.column {
            guard index < endIndex else { return nil }
            let scalar = self[index]
            index = self.index(after: index)
            switch scalar {
            case "\r" where index < endIndex && self[index] == "\n": continue
            case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": (line, column) = (line + 1, 1)
            default: column += 1
            }
        }
        return line == mark.line && column == mark.column ? index : nil
    }
}
