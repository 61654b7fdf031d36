/// What would have to be otherwise for an expression to hold.
indirect enum RuleNeed: Hashable, Sendable {
    /// A sentence without a full stop: `owner == 64ab… (%%user.id), but it is 64ac…`.
    case change(String)
    case all([RuleNeed])
    case any([RuleNeed])

    static func every(_ needs: [RuleNeed]) -> RuleNeed? {
        needs.isEmpty ? nil : needs.count == 1 ? needs[0] : .all(needs)
    }

    static func oneOf(_ needs: [RuleNeed]) -> RuleNeed { needs.count == 1 ? needs[0] : .any(needs) }

    /// One line for each change, alternatives indented.
    var lines: [String] {
        switch self {
        case .change(let text): [text]
        case .all(let needs): needs.flatMap(\.lines)
        case .any(let needs):
            ["one of these:"]
                + needs.flatMap { need -> [String] in
                    let lines = need.lines
                    return lines.enumerated().map { "  \($0 == 0 ? "-" : " ") \($1)" }
                }
        }
    }
}
