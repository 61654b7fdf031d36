import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// Converts values as people write them to the API's text.
extension FilterForm {
    /// `yes` → `true`, also in the page's language.
    static func truth(_ text: String) -> String? {
        let text = text.lowercased()
        if text == "yes" || text == localized("Yes").lowercased() { return "true" }
        return text == "no" || text == localized("No").lowercased() ? "false" : nil
    }

    /// `150,000` → `150000`. Removes commas and spaces only where they separate thousands.
    static func number(_ text: String) -> String? {
        let groups = text.split(whereSeparator: { ", \u{a0}\u{202f}".contains($0) })
        guard groups.count > 1 else { return text }
        let digits = groups[0].first.map { "+-".contains($0) } == true ? groups[0].dropFirst() : groups[0]
        let whole = groups.last?.split(separator: ".", omittingEmptySubsequences: false).first ?? ""
        let areThousands =
            (1...3).contains(digits.count) && groups.dropFirst().dropLast().allSatisfy { $0.count == 3 }
            && whole.count == 3
        return areThousands ? groups.joined() : nil
    }

    /// `2026-05-14` or `2026-05-14 13:22` → `2026-05-14T13:22:00Z`; times are in UTC.
    static func time(_ text: String) -> String? {
        let body = text.hasSuffix("Z") ? text.dropLast() : text.hasSuffix(" UTC") ? text.dropLast(4) : Substring(text)
        let parts = body.split(omittingEmptySubsequences: true, whereSeparator: { $0 == "T" || $0 == " " })
        guard (1...2).contains(parts.count) else { return nil }
        let clock = parts.count == 1 ? "00:00:00" : parts[1].count == 5 ? "\(parts[1]):00" : String(parts[1])
        return "\(parts[0])T\(clock)Z"
    }

    static func expected(_ type: PropertyType) -> String {
        switch type {
        case .bool: localized("yes or no")
        case .int: localized("a whole number")
        case .float, .double, .decimal128: localized("a number, such as 12.5")
        case .date: localized("a date, such as 2026-05-14 or 2026-05-14 13:22, in UTC")
        default: ValueText.expected(type).localized
        }
    }

    /// - Parameter value: the API's text for a Boolean.
    static func truthTitle(_ value: String) -> String {
        switch value {
        case "true": localized("Yes")
        case "false": localized("No")
        default: value
        }
    }
}
