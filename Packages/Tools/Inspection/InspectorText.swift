import TomboloHTTP

/// Formats the responses of a gateway's inspector for people. Missing values are shown as `-`.
public enum InspectorText {
    static let nothing = "-"

    // MARK: Parts of answers

    static func text(_ value: JSON?) -> String {
        switch value {
        case .string(let text): text.isEmpty ? nothing : text.terminalSafe
        case .int(let number): String(number)
        case .bool(let flag): flag ? "yes" : "no"
        default: nothing
        }
    }

    /// `3 ticks, 1.2 s`
    static func distance(_ position: JSON?) -> String {
        guard let ticks = position?["behindTicks"]?.number else { return nothing }
        guard ticks > 0 else { return "no" }
        let milliseconds = position?["behindMilliseconds"]?.number ?? 0
        return "\(counted(ticks, "tick")), \(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s"
    }

    static func counted(_ count: Int64, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// `2 h 5 min`
    static func duration(_ seconds: Int64?) -> String {
        guard let seconds else { return nothing }
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3_600: return "\(seconds / 60) min"
        case ..<86_400: return "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
        default: return "\(seconds / 86_400) d \(seconds % 86_400 / 3_600) h"
        }
    }

    /// `'cheap': Listing, price < 200`
    static func subscription(_ value: JSON) -> String {
        let name = value["name"]?.text.map { "'\($0.terminalSafe)': " } ?? ""
        return "\(name)\(text(value["class"])), \(text(value["objects"]))"
    }
}

extension JSON {
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Int64? { if case .int(let number) = self { number } else { nil } }
    var items: [JSON] { if case .array(let items) = self { items } else { [] } }
}
