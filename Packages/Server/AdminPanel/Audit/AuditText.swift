import Foundation
import TomboloHTTP
import TomboloModel

/// Entries of the audit log as texts of pages.
enum AuditText {
    static let operations = ["create", "update", "delete", "trash", "restore", "baseline", "gap"]
    static let sources = ["http", "sync", "sql", "system"]
    /// Of a value on a page; the rest is in the log.
    static let valueByteCount = 300

    /// What an operation did.
    private static func words(_ operation: String) -> String {
        switch operation {
        case "create": "Created"
        case "update": "Changed"
        case "delete": "Deleted permanently"
        case "trash": "Moved to the trash"
        case "restore": "Restored from the trash"
        case "baseline": "Existed when the log began"
        default: "The log begins here, or misses what happened before"
        }
    }

    /// What an operation did, and who did it: `Changed by Bella Boss`.
    private static func headline(_ operation: String, _ entry: JSON) -> String {
        let isDeed = ["create", "update", "delete", "trash", "restore"].contains(operation)
        return isDeed ? "\(words(operation)) by \(who(entry))" : words(operation)
    }

    /// - Parameter reader: the id of the user who looks, who may see their own jobs.
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
            values["job"] = ["text": "job \(job)", "path": "\(JobPages.path)/\(job)", "before": before]
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

    /// Who made a change, as it stands within a sentence.
    static func who(_ entry: JSON) -> String {
        if let name = userName(entry) { return name }
        if let user = text(entry["user"]) { return "user \(user)" }
        switch text(entry["source"]) {
        case "system": return "the server"
        case "sync": return "a device"
        case "http": return "somebody who isn't logged in"
        default: return "plain SQL (\(text(entry["databaseUser"]) ?? "a service"))"
        }
    }

    /// - Parameter job: what is shown beside it, as a link.
    private static func whence(_ entry: JSON, _ job: Int64?) -> String {
        var parts: [String] = []
        switch text(entry["source"]) {
        case "http": parts.append("over HTTP")
        case "sync": parts.append("by sync, device \(text(entry["client"]) ?? "unknown")")
        case "sql": parts.append("with SQL")
        default: break
        }
        if let address = text(entry["address"]), !address.isEmpty { parts.append("from \(address)") }
        if job == nil, let route = text(entry["route"]) { parts.append(route) }
        return parts.joined(separator: ", ")
    }

    /// The number of the user's job that made the change; nil if none did.
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
            rows += secret.compactMap { text($0) }.map {
                ["name": $0, "label": ClassTitle.words($0), "before": "secret", "after": "secret"]
            }
        }
        return rows
    }

    private static func members(_ json: JSON?) -> [String: JSON] {
        if case .object(let members)? = json { members } else { [:] }
    }

    private static func display(_ json: JSON) -> String {
        switch json {
        case .null: "none"
        case .string(let text): text.isEmpty ? "empty text" : text.shortened(toByteCount: valueByteCount)
        default: json.jsonText.shortened(toByteCount: valueByteCount)
        }
    }

    private static func shortTime(_ text: String) -> String {
        String(text.prefix(19)).replacing("T", with: " ")
    }

    static func text(_ json: JSON?) -> String? { if case .string(let text)? = json { text } else { nil } }
}

extension JSON {
    /// As JSON text.
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
