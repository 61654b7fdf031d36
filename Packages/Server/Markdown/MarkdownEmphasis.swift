/// Runs of `*` and `_`, and which of them begin and end emphasis.
struct MarkdownEmphasis {
    struct Run {
        let mark: Unicode.Scalar
        /// The length as written.
        let length: Int
        let canBegin: Bool
        let canEnd: Bool
        /// How much of it is left as text.
        var rest: Int
        /// What the run begins, innermost first, and what it ends: 1 for emphasis, 2 for strong emphasis.
        var begins: [Int] = []
        var ends: [Int] = []

        /// - Parameters:
        ///   - before: the character before the run, or nil at the start of the text.
        ///   - after: the character after the run.
        init(_ mark: Unicode.Scalar, length: Int, before: Unicode.Scalar?, after: Unicode.Scalar?) {
            self.mark = mark
            self.length = length
            rest = length
            let (leading, trailing) = (Neighbour(before), Neighbour(after))
            let isLeft = trailing != .space && (trailing == .letter || leading != .letter)
            let isRight = leading != .space && (leading == .letter || trailing != .letter)
            // Names like `snake_case` contain no emphasis.
            canBegin = isLeft && (mark == "*" || !isRight || leading == .punctuation)
            canEnd = isRight && (mark == "*" || !isLeft || trailing == .punctuation)
        }
    }

    private enum Neighbour {
        case space, punctuation, letter

        init(_ scalar: Unicode.Scalar?) {
            guard let scalar, !scalar.properties.isWhitespace else {
                self = .space
                return
            }
            switch scalar.properties.generalCategory {
            case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
                .finalPunctuation, .otherPunctuation, .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol:
                self = .punctuation
            default: self = .letter
            }
        }
    }

    private(set) var runs: [Run] = []
    /// The positions of runs that aren't matched yet.
    private var waiting: [Int] = []

    /// The number of runs that aren't matched yet.
    var waitingCount: Int { waiting.count }

    /// - Returns: the position of the run.
    mutating func add(_ run: Run) -> Int {
        waiting.append(runs.count)
        runs.append(run)
        return runs.count - 1
    }

    /// Matches the runs after the first `count` waiting ones with each other. After that, they match no others.
    ///
    /// An opener that a kind of closer has passed over isn't examined again for closers of that kind. There are
    /// twelve kinds, so the time is linear in the length.
    mutating func match(behind count: Int) {
        var begun: [Int] = []
        var looked = [Int](repeating: 0, count: 12)
        for position in waiting[count...] {
            let kind = self.kind(of: runs[position])
            while runs[position].canEnd, runs[position].rest > 0 {
                guard
                    let found = begun.lastIndex(where: { $0 < looked[kind] || matches($0, position) }),
                    begun[found] >= looked[kind]
                else {
                    looked[kind] = position
                    break
                }
                let start = begun[found]
                let strength = runs[start].rest >= 2 && runs[position].rest >= 2 ? 2 : 1
                runs[start].rest -= strength
                runs[position].rest -= strength
                runs[start].begins.append(strength)
                runs[position].ends.append(strength)
                begun.removeLast(begun.count - found - (runs[start].rest > 0 ? 1 : 0))
            }
            if runs[position].canBegin, runs[position].rest > 0 { begun.append(position) }
        }
        waiting.removeLast(waiting.count - count)
    }

    private func kind(of run: Run) -> Int {
        (run.mark == "*" ? 0 : 6) + (run.canBegin ? 0 : 3) + run.length % 3
    }

    private func matches(_ start: Int, _ end: Int) -> Bool {
        let (start, end) = (runs[start], runs[end])
        guard start.mark == end.mark else { return false }
        // `*a**b*` is a single emphasis.
        let isEither = start.canEnd || end.canBegin
        return !isEither || (start.length + end.length) % 3 != 0 || start.length % 3 == 0 && end.length % 3 == 0
    }
}
