internal import Yams

/// The rows of the matrix: `roles`, and `everywhere` for roles that apply everywhere.
extension RoleEditor {
    private func rows(_ section: String) -> Node.Mapping? {
        guard case .mapping(let rows)? = root?.value("matrix")?.value(section) else { return nil }
        return rows
    }

    /// The text of a row.
    /// - Parameter isQuoted: whether to put everything in quotes, as in JSON.
    private func row(_ name: String, _ cells: [(String, String)], isQuoted: Bool) -> String {
        let content = cells.map { service, letters in
            if isQuoted { return "\"\(service)\": \"\(letters)\"" }
            let isPlain = service.wholeMatch(of: #/[A-Za-z][A-Za-z0-9_\-]*/#) != nil
            return isPlain ? "\(service): \(letters)" : "\"\(service)\": \(letters)"
        }
        return (isQuoted ? "\"\(name)\"" : name) + ": {\(content.joined(separator: ", "))}"
    }

    /// Inserts a row after the last one, indented like it, or in a new section `everywhere` after `roles`.
    mutating func insertRow(_ name: String, _ section: String, _ cells: [(String, String)]) -> Bool {
        let isNew = section == "everywhere" && root?.value("matrix")?.value(section) == nil
        guard let rows = rows(isNew ? "roles" : section), let last = Array(rows).last, let key = range(of: last.key),
            let end = end(of: last.value)
        else { return false }
        if isFlow(rows.mark) {
            let isQuoted = text.unicodeScalars[key.lowerBound] == "\""
            let row = row(name, cells, isQuoted: isQuoted)
            guard isNew else {
                replace(end..<end, with: ", \(row)")
                return true
            }
            // The matrix may be written in block style even if its rows aren't.
            guard case .mapping(let matrix)? = root?.value("matrix"), isFlow(matrix.mark),
                let sectionEnd = closing(after: end)
            else { return false }
            replace(sectionEnd..<sectionEnd, with: isQuoted ? ", \"everywhere\": {\(row)}" : ", everywhere: {\(row)}")
            return true
        }
        guard let indent = indent(key.lowerBound) else { return false }
        let row = indent + row(name, cells, isQuoted: false)
        guard isNew else {
            insert(row, afterLineOf: end)
            return true
        }
        guard let rolesKey = sectionKey("roles"), let outer = self.indent(rolesKey.lowerBound) else { return false }
        insert("\(outer)everywhere:\(lineBreak)\(row)", afterLineOf: end)
        return true
    }

    mutating func removeRow(_ name: String, _ section: String) -> Bool {
        guard let rows = rows(section) else { return false }
        let all = Array(rows)
        guard let position = all.firstIndex(where: { $0.key.scalar?.string == name }),
            let key = range(of: all[position].key), let end = end(of: all[position].value)
        else { return false }
        if all.count == 1 { return section == "everywhere" && removeSection(end, isFlow: isFlow(rows.mark)) }
        if !isFlow(rows.mark) {
            guard indent(key.lowerBound) != nil else { return false }
            replace(lineStart(key.lowerBound)..<lineEnd(end), with: "")
        } else if position > 0, let previous = self.end(of: all[position - 1].value) {
            replace(previous..<end, with: "")
        } else if let next = range(of: all[position + 1].key) {
            replace(key.lowerBound..<next.lowerBound, with: "")
        } else {
            return false
        }
        return true
    }

    /// Removes the section `everywhere`, whose only row ends here.
    private mutating func removeSection(_ end: Scalars.Index, isFlow: Bool) -> Bool {
        guard let key = sectionKey("everywhere") else { return false }
        if !isFlow {
            guard indent(key.lowerBound) != nil else { return false }
            replace(lineStart(key.lowerBound)..<lineEnd(end), with: "")
            return true
        }
        guard let roles = rows("roles"), let last = Array(roles).last, let lastEnd = self.end(of: last.value),
            let rolesEnd = closing(after: lastEnd), let sectionEnd = closing(after: end), rolesEnd < sectionEnd
        else { return false }
        replace(rolesEnd..<sectionEnd, with: "")
        return true
    }

    mutating func renameRow(_ name: String, _ section: String, to new: String) -> Bool {
        guard let rows = rows(section), let found = Array(rows).first(where: { $0.key.scalar?.string == name }),
            let key = range(of: found.key)
        else { return false }
        let isQuoted = text.unicodeScalars[key.lowerBound] == "\""
        replace(key, with: isQuoted ? "\"\(new)\"" : new)
        return true
    }

    // MARK: Places

    private mutating func sectionKey(_ section: String) -> Range<Scalars.Index>? {
        guard case .mapping(let matrix)? = root?.value("matrix") else { return nil }
        return Array(matrix).first { $0.key.scalar?.string == section }.flatMap { range(of: $0.key) }
    }

    /// The spaces between the line's start and this index; nil if there is anything else.
    private func indent(_ index: Scalars.Index) -> String? {
        let before = String(text.unicodeScalars[lineStart(index)..<index])
        return before.allSatisfy { $0 == " " } ? before : nil
    }

    /// The end of a row: of its last value, or of the brace around its values.
    private mutating func end(of row: Node) -> Scalars.Index? {
        guard case .mapping(let cells) = row, let last = Array(cells).last,
            let end = range(of: last.value)?.upperBound
        else { return nil }
        return isFlow(cells.mark) ? closing(after: end) : end
    }

    /// The index after the next closing brace, if only whitespace, commas and comments come before it.
    private func closing(after index: Scalars.Index) -> Scalars.Index? {
        let scalars = text.unicodeScalars
        var index = index
        while index < scalars.endIndex {
            switch scalars[index] {
            case "}": return scalars.index(after: index)
            case " ", "\t", "\r", "\n", ",": index = scalars.index(after: index)
            case "#": index = lineEnd(index)
            default: return nil
            }
        }
        return nil
    }
}
