import Foundation
import TomboloHTTP
import TomboloLocalization
import TomboloModel

/// The texts that pages show for audit log entries.
enum AuditText {
    static let operations = ["create", "update", "delete", "trash", "restore", "baseline", "gap"]
    static let sources = ["http", "sync", "sql", "system"]
    /// The maximum size of a value on a page, in bytes; the log has the rest.
    static let valueByteCount = 300

    /// The name of an operation in the list to choose from.
    static func operationTitle(_ operation: String) -> String {
        switch operation {
        case "create": localized("create", context: "operation")
        case "update": localized("update", context: "operation")
        case "delete": localized("delete", context: "operation")
        case "trash": localized("trash", context: "operation")
        case "restore": localized("restore", context: "operation")
        case "baseline": localized("baseline", context: "operation")
        case "gap": localized("gap", context: "operation")
        default: operation
        }
    }

    /// The name of a source in the list to choose from.
    static func sourceTitle(_ source: String) -> String {
        switch source {
        case "http": localized("http", context: "source")
        case "sync": localized("sync", context: "source")
        case "sql": localized("sql", context: "source")
        case "system": localized("system", context: "source")
        default: source
        }
    }

    /// What an operation did, as a verb.
    private static func words(_ operation: String) -> String {
        switch operation {
        case "create": localized("Created")
        case "update": localized("Changed")
        case "delete": localized("Deleted permanently")
        case "trash": localized("Moved to the trash")
        case "restore": localized("Restored from the trash")
        case "baseline": localized("Existed when the log began")
        default: localized("The log begins here, or has no record of earlier changes")
        }
    }

    /// What an operation did, and who did it: `Changed by Bella Boss`.
    private static func headline(_ operation: String, _ entry: JSON) -> String {
        let byWhom = byWhom(entry)
        return switch operation {
        case "create": localized("Created \(byWhom)")
        case "update": localized("Changed \(byWhom)")
        case "delete": localized("Deleted permanently \(byWhom)")
        case "trash": localized("Moved to the trash \(byWhom)")
        case "restore": localized("Restored from the trash \(byWhom)")
        default: words(operation)
        }
    }

    /// - Parameter reader: the viewer's user id. Users may see their own jobs.
    static func values(
        of entry: JSON, _ schema: Schema, isHistory: Bool, for reader: String
    ) -> [String: Any] {
        let operation = text(entry["operation"]) ?? ""
        let className = text(entry["class"])
        let key = text(entry["object"]) ?? ""
        let job = job(entry, of: reader)
        var values: [String: Any] = [
            "id": text(entry["id"]) ?? "", "at": text(entry["at"]) ?? "", "time": shortTime(text(entry["at"]) ?? ""),
            "what": words(operation), "who": userName(entry) ?? who(entry).capitalizedFirst,
            "headline": headline(operation, entry), "whence": whence(entry, job), "key": key,
            "className": className ?? "",
        ]
        if let list = text(entry["list"]) { values["list"] = list }
        if let job {
            let before = whence(entry, job).isEmpty ? "" : ", "
            values["job"] = ["text": localized("job \(job)"), "path": "\(JobPages.path)/\(job)", "before": before]
        }
        if let reason = text(entry["trashReason"]) { values["reason"] = reason }
        if let className, let item = schema[className], item.owner == nil {
            values["history"] = AuditPages.path(collection: item.collectionName, key: key)
        }
        let isOwn = text(entry["list"]) == nil && schema[className ?? ""] != nil
        values["changes"] = changes(entry, canPutBack: isHistory && isOwn && operation == "update")
        if isHistory, isOwn {
            if operation == "update" { values["undo"] = true }
            if ["create", "update", "baseline"].contains(operation) { values["version"] = true }
            if operation == "delete" { values["make"] = true }
        }
        return values
    }

    private static func userName(_ entry: JSON) -> String? {
        text(entry["userName"]).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Who made a change, as a phrase of its own.
    static func who(_ entry: JSON) -> String {
        if let name = userName(entry) { return name }
        if let user = text(entry["user"]) { return localized("user \(user)") }
        switch text(entry["source"]) {
        case "system": return localized("the server")
        case "sync": return localized("a device")
        case "http": return localized("somebody who isn't logged in")
        default: return localized("plain SQL (\(databaseUser(entry)))")
        }
    }

    /// Who made a change, as it follows the operation. Other languages inflect it differently there.
    private static func byWhom(_ entry: JSON) -> String {
        if let name = userName(entry) { return localized("by \(name)") }
        if let user = text(entry["user"]) { return localized("by user \(user)") }
        switch text(entry["source"]) {
        case "system": return localized("by the server")
        case "sync": return localized("by a device")
        case "http": return localized("by somebody who isn't logged in")
        default: return localized("by plain SQL (\(databaseUser(entry)))")
        }
    }

    private static func databaseUser(_ entry: JSON) -> String {
        text(entry["databaseUser"]) ?? localized("a service")
    }

    /// - Parameter job: the job that a link next to the text names, so that the text leaves out the route.
    private static func whence(_ entry: JSON, _ job: Int64?) -> String {
        var parts: [String] = []
        switch text(entry["source"]) {
        case "http": parts.append(localized("over HTTP"))
        case "sync":
            let client = text(entry["client"]).map { localized("by sync, device \($0)") }
            parts.append(client ?? localized("by sync, device unknown"))
        case "sql": parts.append(localized("with SQL"))
        default: break
        }
        if let address = text(entry["address"]), !address.isEmpty { parts.append(localized("from \(address)")) }
        if job == nil, let route = text(entry["route"]) { parts.append(route) }
        return parts.joined(separator: ", ")
    }

    /// The number of the job that made the change; nil if none of this user's jobs did.
    private static func job(_ entry: JSON, of user: String) -> Int64? {
        guard let route = text(entry["route"]), route.hasPrefix("job "), text(entry["user"]) == user else { return nil }
        return Int64(route.dropFirst("job ".count))
    }

    private static func changes(_ entry: JSON, canPutBack: Bool) -> [[String: Any]] {
        let (before, after) = (members(entry["before"]), members(entry["after"]))
        var rows: [[String: Any]] = Set(before.keys).union(after.keys).sorted().map { name in
            var row: [String: Any] = ["name": name, "label": ClassTitle.words(name)]
            row["before"] = before[name].map(display) ?? "—"
            row["after"] = after[name].map(display) ?? "—"
            if canPutBack, before[name] != nil { row["canPutBack"] = true }
            return row
        }
        if case .array(let secret)? = entry["secret"] {
            let hidden = localized("secret")
            rows += secret.compactMap { text($0) }.map {
                ["name": $0, "label": ClassTitle.words($0), "before": hidden, "after": hidden]
            }
        }
        return rows
    }

    private static func members(_ json: JSON?) -> [String: JSON] {
        if case .object(let members)? = json { members } else { [:] }
    }

    private static func display(_ json: JSON) -> String {
        switch json {
        case .null: localized("none")
        case .string(let text): text.isEmpty ? localized("empty text") : text.shortened(toByteCount: valueByteCount)
        default: json.jsonText.shortened(toByteCount: valueByteCount)
        }
    }

    private static func shortTime(_ text: String) -> String {
        String(text.prefix(19)).replacing("T", with: " ")
    }

    static func text(_ json: JSON?) -> String? { if case .string(let text)? = json { text } else { nil } }
}

extension JSON {
    /// The value as JSON text.
    var jsonText: String {
        var bytes = JSONBytes()
        append(to: &bytes)
        return String(decoding: bytes.bytes, as: UTF8.self)
    }

    /// - Throws: ``RequestFailure`` with status 400 for text that isn't JSON.
    init(parsing text: String) throws {
        do {
            self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
        } catch {
            throw RequestFailure(.badRequest, "A field of the form isn't JSON.")
        }
    }
}
