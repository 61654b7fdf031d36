import TomboloLocalization

/// The values for the template `devices_why`: a form, and the gateways' answers.
struct DeviceWhyContent: Sendable {
    struct Choice: Sendable {
        let value: String
        let label: String
        let isChosen: Bool
    }

    struct Answer: Sendable {
        /// The heading's id on the page.
        let id: String
        /// Nil if the answer isn't about one of the user's devices.
        let device: String?
        let user: String
        let place: String
        let verdict: String
        let kind: String
        let headline: String
        let reasons: [DeviceAnswers.Reason]
    }

    let user: String
    let client: String
    let object: String
    let property: String
    let classes: [Choice]
    var problem: DeviceProblem?
    var warnings: [DeviceProblem] = []
    var answers: [Answer] = []
    var wasAsked = false
    var left: String?

    init(user: String, client: String, object: String, property: String, classes: [Choice]) {
        self.user = user
        self.client = client
        self.object = object
        self.property = property
        self.classes = classes
    }

    mutating func show(_ found: DeviceAnswers, names: [String: String]) {
        wasAsked = true
        warnings = found.warnings
        answers = found.devices.enumerated().map { index, device in
            let userID = device.user ?? ""
            let has = device.isVisible
            let verdict = has ? localized("available to this device") : localized("not available to this device")
            return Answer(
                id: "answer-\(index)", device: device.client,
                user: names[userID] ?? userID, place: Self.place(of: device),
                verdict: verdict, kind: has ? "yes" : "no",
                headline: device.reasons.first?.message ?? "", reasons: device.reasons)
        }
        if found.leftCount > 0 {
            left = localized(
                "Connected devices that aren't shown: \(PanelNumber.text(found.leftCount)). "
                    + "Ask about one of them by its id.")
        }
    }

    /// Where a device is connected, such as `live at gateway-1:4711, tick 9`.
    private static func place(of device: DeviceAnswers.Device) -> String {
        guard let gateway = device.gateway else { return localized("not connected") }
        let state = device.state.map(DeviceWords.state) ?? localized("connected")
        guard let tick = device.tick else { return localized("\(state) at \(gateway)") }
        return localized("\(state) at \(gateway), tick \(PanelNumber.text(tick))")
    }
}
