/// The lines in which two texts differ, with some lines of context.
struct LineDiff: Sendable {
    enum Kind: String, Sendable {
        case same, removed, added
        /// Stands for omitted lines.
        case gap
    }

    struct Line: Hashable, Sendable {
        let kind: Kind
        /// The line number in the older text, from 1; nil for an added line.
        let oldNumber: Int?
        /// The line number in the newer text, from 1; nil for a removed line.
        let newNumber: Int?
        let text: String
    }

    /// How many lines are kept before and after a difference.
    static let context = 3
    /// Longer texts aren't compared.
    static let lineLimit = 20_000
    /// If the parts between the common beginning and end have more lines together, they aren't compared: the cost of
    /// the search grows with the square of the number of differences.
    static let changeLimit = 4_000

    let lines: [Line]
    let added: Int
    let removed: Int

    /// - Returns: nil if the texts are too long, or too different, to be compared line by line.
    init?(from old: String, to new: String) {
        let old = Self.split(old)
        let new = Self.split(new)
        guard old.count <= Self.lineLimit, new.count <= Self.lineLimit else { return nil }
        // The common beginning and end need no search.
        let head = zip(old, new).prefix { $0 == $1 }.count
        let tail = zip(old.dropFirst(head).reversed(), new.dropFirst(head).reversed()).prefix { $0 == $1 }.count
        let (oldMiddle, newMiddle) = (old[head..<old.count - tail], new[head..<new.count - tail])
        guard oldMiddle.count + newMiddle.count <= Self.changeLimit else { return nil }
        let difference = Array(newMiddle).difference(from: Array(oldMiddle))
        var removals: Set<Int> = []
        var insertions: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removals.insert(head + offset)
            case .insert(let offset, _, _): insertions.insert(head + offset)
            }
        }
        added = insertions.count
        removed = removals.count
        lines = Self.shortened(Self.merged(old, new, removals, insertions))
    }

    private static func split(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func merged(
        _ old: [String], _ new: [String], _ removals: Set<Int>, _ insertions: Set<Int>
    ) -> [Line] {
        var lines: [Line] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if left < old.count, removals.contains(left) {
                lines.append(Line(kind: .removed, oldNumber: left + 1, newNumber: nil, text: old[left]))
                left += 1
            } else if right < new.count, insertions.contains(right) {
                lines.append(Line(kind: .added, oldNumber: nil, newNumber: right + 1, text: new[right]))
                right += 1
            } else if left < old.count, right < new.count {
                lines.append(Line(kind: .same, oldNumber: left + 1, newNumber: right + 1, text: old[left]))
                left += 1
                right += 1
            } else {
                break
            }
        }
        return lines
    }

    private static func shortened(_ lines: [Line]) -> [Line] {
        var isShown = [Bool](repeating: false, count: lines.count)
        for (index, line) in lines.enumerated() where line.kind != .same {
            for near in max(0, index - context)...min(lines.count - 1, index + context) { isShown[near] = true }
        }
        var result: [Line] = []
        for (index, line) in lines.enumerated() {
            if isShown[index] {
                result.append(line)
            } else if result.last?.kind != .gap, isShown.contains(true) {
                result.append(Line(kind: .gap, oldNumber: nil, newNumber: nil, text: ""))
            }
        }
        return result
    }
}
