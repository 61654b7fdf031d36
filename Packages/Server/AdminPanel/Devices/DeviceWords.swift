import TomboloHTTP
import TomboloLocalization

/// The wording for parts of the inspector's answers.
enum DeviceWords {
    /// The wording for a session state. docs/observability.md explains the gateways' names for them.
    static func state(_ name: String) -> String {
        switch name {
        case "waiting": localized("waiting", context: "state of a device")
        case "authenticating": localized("authenticating", context: "state of a device")
        case "opening": localized("opening", context: "state of a device")
        case "verifying": localized("verifying", context: "state of a device")
        case "reading": localized("reading", context: "state of a device")
        case "live": localized("live", context: "state of a device")
        case "closed": localized("closed", context: "state of a device")
        default: name
        }
    }

    /// How far a device is behind, such as `3 ticks, 1.2 s`; `no` for a device that has everything.
    static func distance(_ position: JSON?) -> String {
        guard let ticks = position?["behindTicks"]?.number else { return "" }
        guard ticks > 0 else { return localized("no") }
        let milliseconds = position?["behindMilliseconds"]?.number ?? 0
        let seconds = localized("\(PanelNumber.text(milliseconds / 1_000)).\(milliseconds % 1_000 / 100) s")
        let number = PanelNumber.text(ticks)
        return localized(ticks, one: "\(number) tick, \(seconds)", other: "\(number) ticks, \(seconds)")
    }

    /// `2 h 5 min`
    static func duration(seconds: Int) -> String {
        switch seconds {
        case ..<60: localized("\(seconds) s")
        case ..<3_600: localized("\(seconds / 60) min")
        case ..<86_400: localized("\(seconds / 3_600) h \(seconds % 3_600 / 60) min")
        default: localized("\(seconds / 86_400) d \(seconds % 86_400 / 3_600) h")
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
        return localized("\(names.dropLast().joined(separator: ", ")) and \(names[names.count - 1])")
    }
}
