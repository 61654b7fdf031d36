import TomboloHTTP
import TomboloJSONAPI

/// What the template `device_session` shows: one connected device.
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
            self.title = "\(title): \(PanelNumber.text(count)), version \(set["version"]?.number ?? 0)"
            lines = (set["first"]?.items ?? []).map(DeviceWords.subscription)
            more = count > lines.count ? "and \(PanelNumber.text(count - lines.count)) more" : nil
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
        func yesNo(_ part: String, _ name: String) -> String { session[part]?[name] == .bool(true) ? "yes" : "no" }
        let client = session["client"]?.text
        let user = session["user"]?.text ?? ""
        device = client ?? "not known yet"
        whyLink = client.map { "\(DevicePages.whyPath)?client=\(RequestParameters.encode($0))" }
        facts = [
            Fact(name: "Device", value: device),
            Fact(name: "User", value: user.isEmpty ? "not let in yet" : names[user].map { "\($0) (\(user))" } ?? user),
            Fact(name: "Gateway", value: gateway),
            Fact(name: "Address", value: session["address"]?.text ?? "–"),
            Fact(name: "State", value: session["state"]?.text ?? "–"),
            Fact(
                name: "Connected for", value: DeviceWords.duration(seconds: session["connectedSeconds"]?.number ?? 0)),
            Fact(name: "Model", value: session["generation"]?.number.map { PanelNumber.text($0) } ?? "–"),
            Fact(name: "Partition", value: session["partition"].flatMap { $0 == .null ? nil : $0.jsonText } ?? "none"),
            Fact(name: "Has everything up to tick", value: number("position", "tick")),
            Fact(name: "Behind", value: DeviceWords.distance(session["position"])),
            Fact(name: "Batches not applied yet", value: number("position", "unappliedBatches")),
            Fact(name: "Follows changes as they come", value: yesNo("position", "isFollowing")),
            Fact(
                name: "Changesets",
                value: "\(number("uploads", "received")) received, \(number("uploads", "acknowledged")) acknowledged, "
                    + "\(number("uploads", "waiting")) waiting, \(number("uploads", "underWay")) under way"),
            Fact(
                name: "Connection",
                value: "\(number("sending", "pendingBytes")) bytes pending, \(number("sending", "spooledBytes")) bytes "
                    + "spooled\(session["sending"]?["isWritable"] == .bool(false) ? ", takes nothing now" : "")"),
            Fact(name: "A batch is being read for it", value: yesNo("sending", "isReadingBatch")),
        ]
        var sets = [Subscriptions("subscriptions", "Subscriptions", session["subscriptions"] ?? .null)]
        if let waiting = session["waitingSubscriptions"], waiting != .null {
            sets.append(Subscriptions("waiting", "Subscriptions that wait for the batch under way", waiting))
        }
        subscriptions = sets
    }
}
