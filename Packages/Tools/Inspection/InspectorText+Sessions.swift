public import TomboloHTTP

extension InspectorText {
    /// A page of a gateway's sessions as a table.
    public static func sessions(_ answer: JSON) -> String {
        let sessions = answer["sessions"]?.items ?? []
        let count = answer["count"]?.number ?? Int64(sessions.count)
        var lines = [
            "Gateway \(text(answer["gateway"])), newest tick \(text(answer["newestTick"])): \(counted(count, "session"))"
        ]
        guard !sessions.isEmpty else { return lines[0] }
        var table = TextTable([
            "SESSION", "STATE", "USER", "DEVICE", "ADDRESS", "CONNECTED", "BEHIND", "UPLOADS", "SUBSCRIPTIONS",
        ])
        for session in sessions {
            table.rows.append([
                text(session["id"]), text(session["state"]), text(session["user"]), text(session["client"]),
                text(session["address"]), duration(session["connectedSeconds"]?.number),
                distance(session["position"]), text(session["uploads"]?["unacknowledged"]),
                summary(session["subscriptions"]),
            ])
        }
        lines += [""] + table.lines
        let page = answer["page"]?.number ?? 1
        if Int64(sessions.count) < count {
            let content = "\(sessions.count) session\(sessions.count == 1 ? "" : "s")"
            lines += ["", "This is page \(page), with \(content). --page \(page + 1) shows the next."]
        }
        return lines.joined(separator: "\n")
    }

    /// `2: 'cheap': Listing, price < 200 …`
    private static func summary(_ set: JSON?) -> String {
        let count = set?["count"]?.number ?? 0
        guard let first = set?["first"]?.items.first else { return String(count) }
        return "\(count): \(subscription(first).cut(to: 60))\(count > 1 ? " …" : "")"
    }

    /// One session with all details.
    public static func session(_ answer: JSON) -> String {
        let session = answer["session"] ?? .null
        let (position, uploads, sending) = (session["position"], session["uploads"], session["sending"])
        var lines = ["Session \(text(session["id"])) of gateway \(text(answer["gateway"]))", ""]
        let facts: [(String, String)] = [
            ("state", text(session["state"])), ("user", text(session["user"])), ("device", text(session["client"])),
            ("address", text(session["address"])),
            ("connected", duration(session["connectedSeconds"]?.number)), ("model", text(session["generation"])),
            ("partition", partition(session["partition"])),
            ("has everything up to tick", text(position?["tick"])), ("behind", distance(position)),
            ("batches not applied yet", text(position?["unappliedBatches"])),
            ("follows changes as they come", text(position?["isFollowing"])),
            (
                "changesets",
                "\(text(uploads?["received"])) received, \(text(uploads?["acknowledged"])) acknowledged, "
                    + "\(text(uploads?["waiting"])) waiting, \(text(uploads?["underWay"])) under way"
            ),
            (
                "connection",
                "\(sending?["isWritable"] == .bool(false) ? "takes nothing now" : "writable"), "
                    + "\(text(sending?["pendingBytes"])) bytes pending, \(text(sending?["spooledBytes"])) bytes spooled"
            ),
            ("a batch is being read", text(sending?["isReadingBatch"])),
        ]
        let width = facts.map(\.0.count).max() ?? 0
        for (name, value) in facts {
            lines.append("  \(name)\(String(repeating: " ", count: width - name.count))  \(value)")
        }
        lines += list("subscriptions", session["subscriptions"])
        if let waiting = session["waitingSubscriptions"], waiting != .null {
            lines += list("subscriptions that wait for the batch under way", waiting)
        }
        return lines.joined(separator: "\n")
    }

    private static func partition(_ value: JSON?) -> String {
        switch value {
        case .null, nil: "none"
        default: text(value)
        }
    }

    private static func list(_ title: String, _ set: JSON?) -> [String] {
        let shown = set?["first"]?.items ?? []
        let count = set?["count"]?.number ?? 0
        var lines = ["", "\(count) \(title), version \(text(set?["version"]))"] + shown.map { "  \(subscription($0))" }
        if Int64(shown.count) < count { lines.append("  and \(count - Int64(shown.count)) more") }
        return lines
    }
}
