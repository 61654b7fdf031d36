import AdminService
import TomboloHTTP
import TomboloLocalization

/// The values for the template `trash_purge`, taken from the response of the JSON route.
struct PurgeContent: Sendable {
    struct Run: Sendable {
        let began: String
        let ended: String
        let groups: Int
        let objects: Int
        let kept: Int
        let failed: Int
        let problem: String
    }

    struct Kept: Sendable {
        let group: String
        let object: String
        let reason: String
        let attempts: Int
        let next: String
    }

    struct Item: Sendable {
        let group: String
        let count: Int
        let due: String
        let kept: String
    }

    struct Preview: Sendable {
        let items: [Item]
        let hasMore: Bool
    }

    struct Retention: Sendable {
        let className: String
        let days: String
    }

    let runs: [Run]
    let kept: [Kept]
    let retention: [Retention]
    let preview: Preview?

    init(history: JSON, retention: [(className: String, days: Int?)], preview: JSON?) {
        runs = history.list("runs").map { item in
            Run(
                began: item.time("startedAt") ?? "", ended: item.time("finishedAt") ?? localized("not yet"),
                groups: item["groups"]?.number ?? 0, objects: item["objects"]?.number ?? 0,
                kept: item["kept"]?.number ?? 0, failed: item["failed"]?.number ?? 0,
                problem: item["problem"]?.text ?? "")
        }
        kept = history.list("kept").map { item in
            Kept(
                group: item["group"]?.text ?? "",
                object: [item["class"]?.text, item["_id"]?.text].compactMap(\.self).joined(separator: " "),
                reason: item["reason"]?.text ?? "", attempts: item["attempts"]?.number ?? 0,
                next: item.time("nextAt") ?? "")
        }
        self.retention = retention.map { part in
            Retention(
                className: ClassTitle.words(part.className), days: part.days.map { "\($0)" } ?? localized("no limit"))
        }
        self.preview = preview.map { preview in
            Preview(
                items: preview.list("items").map { item in
                    Item(
                        group: item["group"]?.text ?? "", count: item["count"]?.number ?? 0,
                        due: item.time("purgeAt") ?? "", kept: item["keptBecause"]?.text ?? "—")
                }, hasMore: preview["hasMore"] == .bool(true))
        }
    }
}

extension JSON {
    /// The elements of a member that is a list; empty for everything else.
    fileprivate func list(_ name: String) -> [JSON] {
        if case .array(let items)? = self[name] { items } else { [] }
    }

    /// A time in RFC 3339, to the second.
    fileprivate func time(_ name: String) -> String? {
        self[name]?.text.map { "\($0.prefix(10)) \($0.dropFirst(11).prefix(8)) UTC" }
    }
}
