public import TomboloHTTP

extension InspectorText {
    /// Why devices have or lack an object: for each device the answer, then the reasons, the most important one
    /// first.
    public static func why(_ answer: JSON) -> String {
        let property = answer["property"]?.text.map { ", property '\($0.terminalSafe)'" } ?? ""
        var lines = [
            "\(text(answer["class"])) \(key(answer["id"]))\(property), asked of gateway \(text(answer["gateway"]))"
        ]
        let devices = answer["devices"]?.items ?? []
        for device in devices { lines += [""] + why(of: device) }
        let connected = answer["connectedDevices"]?.number ?? 0
        if connected > Int64(devices.count) {
            let left = connected - Int64(devices.count)
            lines += ["", "Connected devices that aren't shown: \(left). Ask about one with --client DEVICE."]
        }
        return lines.joined(separator: "\n")
    }

    private static func why(of device: JSON) -> [String] {
        var facts = ["Device \(text(device["client"])) of user \(text(device["user"]))"]
        if device["isConnectedHere"] == .bool(true) {
            facts.append("\(text(device["state"])), at tick \(text(device["tick"]))")
        } else {
            facts.append("not connected here")
            if let seen = device["lastSeen"]?.text { facts.append("last seen \(seen.terminalSafe)") }
        }
        var lines = [facts.joined(separator: ", ")]
        for reason in device["reasons"]?.items ?? [] {
            lines.append("  \(text(reason["code"])): \(text(reason["message"]))")
            lines += (reason["details"]?.items ?? []).map { "    \(text($0))" }
        }
        return lines
    }

    private static func key(_ value: JSON?) -> String {
        switch value {
        case .double(let number): "\(number)"
        default: text(value)
        }
    }
}
