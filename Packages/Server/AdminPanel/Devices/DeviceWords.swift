import TomboloHTTP

/// Parts of the inspector's answers in words.
enum DeviceWords {
    /// `3 ticks, 1.2 s`; `no` for a device that has everything.
    static func distance(_ position: JSON?) -> String {
        guard let ticks = position?["behindTicks"]?.number else { return "" }
        guard ticks > 0 else { return "no" }
        let milliseconds = position?["behindMilliseconds"]?.number ?? 0
        let seconds = "\(PanelNumber.text(milliseconds / 1_000)).\(milliseconds % 1_000 / 100) s"
        return "\(PanelNumber.text(ticks)) tick\(ticks == 1 ? "" : "s"), \(seconds)"
    }

    /// `2 h 5 min`
    static func duration(seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
        default: "\(seconds / 86_400) d \(seconds % 86_400 / 3_600) h"
        }
    }

    /// `'cheap': Listing, price < 200`
    static func subscription(_ json: JSON) -> String {
        let name = json["name"]?.text.map { "'\($0)': " } ?? ""
        return "\(name)\(json["class"]?.text ?? "?"), \(json["objects"]?.text ?? "?")"
    }

    /// `gateway-1:4711 and gateway-2:12`
    static func list(_ names: [String]) -> String {
        guard names.count > 1 else { return names.first ?? "" }
        return "\(names.dropLast().joined(separator: ", ")) and \(names[names.count - 1])"
    }
}
