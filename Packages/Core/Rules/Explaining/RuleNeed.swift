internal import TomboloModel

/// What would have to change for an expression to hold.
indirect enum RuleNeed: Hashable, Sendable {
    /// A sentence without a full stop: `owner == 64ab… (%%user.id), but it is 64ac…`.
    case change(Wording)
    case all([RuleNeed])
    case any([RuleNeed])

    static func every(_ needs: [RuleNeed]) -> RuleNeed? {
        needs.isEmpty ? nil : needs.count == 1 ? needs[0] : .all(needs)
    }

    static func oneOf(_ needs: [RuleNeed]) -> RuleNeed { needs.count == 1 ? needs[0] : .any(needs) }

    /// One line for each change, alternatives indented.
    var lines: [Wording] {
        switch self {
        case .change(let wording): [wording]
        case .all(let needs): needs.flatMap(\.lines)
        case .any(let needs):
            [Wording("one of these:")]
                + needs.flatMap { need in
                    need.lines.enumerated().map { index, line in
                        Wording(pattern: index == 0 ? "  - {0}" : "    {0}", values: [.wording(line)])
                    }
                }
        }
    }
}
