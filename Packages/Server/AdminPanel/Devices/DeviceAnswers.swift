import AdminService
import TomboloHTTP
import TomboloLocalization
import TomboloModel

/// The answers of all gateways about one object and the devices in question, merged as if one gateway had given them. A
/// gateway itself knows only the devices connected to it; about others it reports what the database has.
struct DeviceAnswers: Sendable {
    struct Reason: Hashable, Sendable {
        let code: String
        let message: String
        let details: [String]
    }

    struct Device: Sendable {
        let client: String?
        let user: String?
        /// The gateway that the device is connected to.
        let gateway: String?
        let state: String?
        let tick: Int?
        let lastSeen: String?
        let isVisible: Bool
        /// The most important reason comes first.
        let reasons: [Reason]
    }

    private(set) var devices: [Device] = []
    let warnings: [DeviceProblem]
    /// The number of connected devices that no answer covers: a gateway reports on a bounded number.
    private(set) var leftCount = 0

    init(_ answers: [GatewayInquiry.Answer]) {
        warnings = DevicesContent.warnings(answers)
        let unheard = answers.filter { if case .silent = $0.outcome { true } else { false } }.map(\.gateway.name)
        var absent: [Device] = []
        for answer in answers {
            guard let json = answer.json else { continue }
            let all = json["devices"]?.items ?? []
            let here = all.filter { $0["isConnectedHere"] == .bool(true) }
            devices += here.map { Self.device($0, gateway: answer.gateway.name, unheard: unheard) }
            absent += all.filter { $0["isConnectedHere"] != .bool(true) }
                .map { Self.device($0, gateway: nil, unheard: unheard) }
            leftCount += max(0, (json["connectedDevices"]?.number ?? 0) - here.count)
        }
        // A gateway's answer about a device that isn't connected to it counts only if the device isn't connected
        // anywhere. All gateways give the same answer then.
        var seen = Set(devices.map(\.client))
        let hasConnected = !devices.isEmpty
        for device in absent where seen.insert(device.client).inserted {
            if device.client == nil, hasConnected { continue }
            devices.append(device)
        }
    }

    private static func device(_ json: JSON, gateway: String?, unheard: [String]) -> Device {
        let lastSeen = json["lastSeen"]?.text
        let client = json["client"]?.text
        let reasons = (json["reasons"]?.items ?? []).map { reason -> Reason in
            let code = reason["code"]?.text ?? ""
            guard code != "not_connected_here" else {
                return notConnected(client, lastSeen: lastSeen, unheard: unheard)
            }
            // Gateways of earlier versions send English texts only.
            let message = Wording(json: reason["messageWording"])?.localized
            let details = reason["detailWordings"]?.items.compactMap { Wording(json: $0)?.localized }
            return Reason(
                code: code, message: message ?? reason["message"]?.text ?? "",
                details: details ?? (reason["details"]?.items ?? []).compactMap(\.text))
        }
        return Device(
            client: client, user: json["user"]?.text, gateway: gateway, state: json["state"]?.text,
            tick: json["tick"]?.number, lastSeen: lastSeen, isVisible: json["isVisible"] == .bool(true),
            reasons: reasons)
    }

    /// - Parameter client: nil if none of the user's devices is connected.
    private static func notConnected(_ client: String?, lastSeen: String?, unheard: [String]) -> Reason {
        let what: String
        if client == nil {
            what =
                unheard.isEmpty
                ? localized("None of the user's devices is connected to any gateway.")
                : localized("None of the user's devices is connected to a gateway that answered.")
        } else {
            let isAbsent =
                unheard.isEmpty
                ? localized("The device isn't connected to any gateway.")
                : localized("The device isn't connected to a gateway that answered.")
            let seen =
                lastSeen.map { localized("It was last seen on \($0.prefix(10)).") }
                ?? localized("No gateway has ever seen it.")
            what = "\(isAbsent) \(seen)"
        }
        let detail =
            unheard.isEmpty
            ? localized("A device gets what it's missing when it connects.")
            : localized("There may be a connection to \(DeviceWords.list(unheard)).")
        return Reason(code: "not_connected", message: what, details: [detail])
    }
}
