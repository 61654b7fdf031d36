import AdminService
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization

/// The values for the template `devices`: the gateways, and who is connected to them.
struct DevicesContent: Sendable {
    /// How many subscriptions of each device the list shows.
    static let subscriptionCount = 3
    /// The gateways' names for session states; docs/observability.md explains them.
    private static let states = ["waiting", "authenticating", "opening", "verifying", "reading", "live", "closed"]

    struct Choice: Sendable {
        let value: String
        let title: String
        let isChosen: Bool
    }

    struct GatewayLine: Sendable {
        let name: String
        let state: String
        /// The style of the mark.
        let kind: String
        let started: Moment
        let seen: Moment
        let sessions: String
        let tick: String
    }

    struct SessionLine: Sendable {
        let link: String
        let device: String
        let user: String
        let userID: String
        let gateway: String
        let connected: String
        let state: String
        let behind: String
        let subscriptions: [String]
        let moreSubscriptions: String?
        let address: String

        init(_ session: JSON, of gateway: RunningGateway, names: [String: String]) {
            let number = session["id"]?.text ?? ""
            link = "\(DevicePages.path)/\(gateway.id)/\(number)"
            device = session["client"]?.text ?? localized("not known yet")
            userID = session["user"]?.text ?? ""
            user = names[userID] ?? (userID.isEmpty ? localized("not authenticated yet") : userID)
            self.gateway = gateway.name
            connected = DeviceWords.duration(seconds: session["connectedSeconds"]?.number ?? 0)
            state = session["state"]?.text.map(DeviceWords.state) ?? ""
            behind = DeviceWords.distance(session["position"])
            let set = session["subscriptions"]
            subscriptions = (set?["first"]?.items ?? []).map(DeviceWords.subscription)
            let left = (set?["count"]?.number ?? 0) - subscriptions.count
            moreSubscriptions = left > 0 ? localized("and \(PanelNumber.text(left)) more") : nil
            address = session["address"]?.text ?? ""
        }
    }

    let user: String
    let client: String
    let stateChoices: [Choice]
    private let state: String?
    var problem: DeviceProblem?
    /// What is missing because some gateways don't answer.
    var warnings: [DeviceProblem] = []
    var gateways: [GatewayLine] = []
    var sessions: [SessionLine] = []
    /// Whether any gateway answered, so that an empty list of sessions means something.
    var wasAsked = false
    var count = ""
    var page = 1
    var previous: String?
    var next: String?

    init(user: String, client: String, state: String?) {
        self.user = user
        self.client = client
        self.state = state
        stateChoices = Self.states.map {
            Choice(value: $0, title: DeviceWords.state($0), isChosen: $0 == state)
        }
    }

    mutating func show(_ answers: [GatewayInquiry.Answer], names: [String: String], page: Int, now: Int64) {
        self.page = page
        gateways = answers.map { Self.line($0, now: now) }
        warnings = Self.warnings(answers)
        wasAsked = answers.contains { $0.json != nil }
        var total = 0
        var hasMore = false
        for answer in answers {
            guard let json = answer.json else { continue }
            let all = json["count"]?.number ?? 0
            total += all
            let shown = json["sessions"]?.items ?? []
            hasMore = hasMore || page * Self.pageSize < all
            sessions += shown.map { SessionLine($0, of: answer.gateway, names: names) }
        }
        let number = PanelNumber.text(total)
        count = localized(total, one: "\(number) connected device", other: "\(number) connected devices")
        previous = page > 1 ? address(page: page - 1) : nil
        next = hasMore ? address(page: page + 1) : nil
    }

    /// The number of sessions that each gateway returns for a page.
    private static let pageSize = 100

    private func address(page: Int) -> String {
        let parameters = [("user", user), ("client", client), ("state", state ?? ""), ("page", String(page))]
        return "\(DevicePages.path)?"
            + parameters.filter { !$0.1.isEmpty }.map { "\($0.0)=\(RequestParameters.encode($0.1))" }
            .joined(separator: "&")
    }

    private static func line(_ answer: GatewayInquiry.Answer, now: Int64) -> GatewayLine {
        let (state, kind) =
            switch answer.outcome {
            case .answered: (localized("answers"), "yes")
            case .refused: (localized("refuses"), "own")
            case .silent: (localized("doesn't answer"), "no")
            case .gone: (localized("isn't there"), "no")
            }
        let gateway = answer.gateway
        return GatewayLine(
            name: gateway.name, state: state, kind: kind, started: Moment(gateway.startedAt, now: now),
            seen: Moment(gateway.seenAt, now: now), sessions: PanelNumber.text(Int(gateway.sessionCount)),
            tick: answer.json?["newestTick"]?.number.map { PanelNumber.text($0) } ?? "")
    }

    /// Warnings about gateways whose sessions are missing from the list.
    static func warnings(_ answers: [GatewayInquiry.Answer]) -> [DeviceProblem] {
        guard !answers.isEmpty else {
            return [
                DeviceProblem(
                    localized("No gateway is running on this database."),
                    hint: localized(
                        "Start sync-gateway. A new gateway appears here within a few seconds."))
            ]
        }
        func names(_ isMeant: (GatewayInquiry.Outcome) -> Bool) -> [String] {
            answers.filter { isMeant($0.outcome) }.map(\.gateway.name)
        }
        var warnings: [DeviceProblem] = []
        let silent = names { if case .silent = $0 { true } else { false } }
        if !silent.isEmpty {
            let seconds = GatewayInquiry.patience.components.seconds
            let message = localized(
                "No answer from \(DeviceWords.list(silent)) within \(seconds) seconds. Devices connected there are "
                    + "missing from this page.")
            let hint = localized(
                "When a gateway is killed, its devices connect to another one. This page stops asking a killed gateway "
                    + "after \(GatewayInquiry.aliveSeconds) seconds.")
            warnings.append(DeviceProblem(message, hint: hint))
        }
        let gone = names { if case .gone = $0 { true } else { false } }
        if !gone.isEmpty {
            let message = localized(
                "\(DeviceWords.list(gone)) stopped without signing off, or can't reach the database, so it wasn't "
                    + "asked.")
            let hint = gone.count == answers.count ? localized("No other gateway is running.") : nil
            warnings.append(DeviceProblem(message, hint: hint))
        }
        for answer in answers {
            guard case .refused(_, let message, let hint) = answer.outcome else { continue }
            let problem = DeviceProblem(message, hint: hint)
            if !warnings.contains(where: { $0.message == message }) { warnings.append(problem) }
        }
        return warnings
    }
}
