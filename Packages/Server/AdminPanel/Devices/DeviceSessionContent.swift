import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization

/// The values for the template `device_session`: one connected device.
struct DeviceSessionContent: Sendable {
    struct Fact: Sendable {
        let name: String
        let value: String
    }

    struct Subscriptions: Sendable {
        let id: String
        let title: String
        let lines: [String]
        let more: String?

        init(_ id: String, _ title: String, _ set: JSON) {
            self.id = id
            let count = set["count"]?.number ?? 0
            let version = set["version"]?.number ?? 0
            self.title = localized("\(title): \(PanelNumber.text(count)), version \(version)")
            lines = (set["first"]?.items ?? []).map(DeviceWords.subscription)
            more = count > lines.count ? localized("and \(PanelNumber.text(count - lines.count)) more") : nil
        }
    }

    let device: String
    let facts: [Fact]
    let subscriptions: [Subscriptions]
    let whyLink: String?

    init(_ session: JSON, gateway: String, names: [String: String]) {
        func number(_ part: String, _ name: String) -> String {
            session[part]?[name]?.number.map { PanelNumber.text($0) } ?? "–"
        }
        func yesNo(_ part: String, _ name: String) -> String {
            session[part]?[name] == .bool(true) ? localized("yes") : localized("no")
        }
        let client = session["client"]?.text
        let user = session["user"]?.text ?? ""
        device = client ?? localized("not known yet")
        whyLink = client.map { "\(DevicePages.whyPath)?client=\(RequestParameters.encode($0))" }
        let userText =
            user.isEmpty ? localized("not authenticated yet") : names[user].map { "\($0) (\(user))" } ?? user
        let partition = session["partition"].flatMap { $0 == .null ? nil : $0.jsonText }
        facts = [
            Fact(name: localized("Device"), value: device),
            Fact(name: localized("User"), value: userText),
            Fact(name: localized("Gateway"), value: gateway),
            Fact(name: localized("Address"), value: session["address"]?.text ?? "–"),
            Fact(name: localized("State"), value: session["state"]?.text.map(DeviceWords.state) ?? "–"),
            Fact(
                name: localized("Connected for"),
                value: DeviceWords.duration(seconds: session["connectedSeconds"]?.number ?? 0)),
            Fact(
                name: localized("Model"), value: session["generation"]?.number.map { PanelNumber.text($0) } ?? "–"),
            Fact(name: localized("Partition"), value: partition ?? localized("none")),
            Fact(name: localized("Has everything up to tick"), value: number("position", "tick")),
            Fact(name: localized("Behind"), value: DeviceWords.distance(session["position"])),
            Fact(name: localized("Batches not applied yet"), value: number("position", "unappliedBatches")),
            Fact(name: localized("Follows changes live"), value: yesNo("position", "isFollowing")),
            Fact(name: localized("Changesets"), value: Self.uploads { number("uploads", $0) }),
            Fact(
                name: localized("Connection"),
                value: Self.sending(
                    takesMore: session["sending"]?["isWritable"] != .bool(false)
                ) { number("sending", $0) }),
            Fact(name: localized("Reading a batch for it"), value: yesNo("sending", "isReadingBatch")),
        ]
        var sets = [Subscriptions("subscriptions", localized("Subscriptions"), session["subscriptions"] ?? .null)]
        if let waiting = session["waitingSubscriptions"], waiting != .null {
            let title = localized("Subscriptions waiting for the current batch")
            sets.append(Subscriptions("waiting", title, waiting))
        }
        subscriptions = sets
    }

    private static func uploads(_ number: (String) -> String) -> String {
        let (received, acknowledged) = (number("received"), number("acknowledged"))
        let (waiting, underWay) = (number("waiting"), number("underWay"))
        return localized(
            "\(received) received, \(acknowledged) acknowledged, \(waiting) waiting, \(underWay) under way")
    }

    private static func sending(takesMore: Bool, _ number: (String) -> String) -> String {
        let (pending, spooled) = (number("pendingBytes"), number("spooledBytes"))
        return takesMore
            ? localized("\(pending) bytes pending, \(spooled) bytes spooled")
            : localized("\(pending) bytes pending, \(spooled) bytes spooled, not accepting data")
    }
}
