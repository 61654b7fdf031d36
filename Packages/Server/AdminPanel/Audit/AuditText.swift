import Foundation
import TomboloHTTP
import TomboloModel

/// Entries of the audit log as texts of pages.
enum AuditText {
    static let operations = ["create", "update", "delete", "trash", "restore", "baseline", "gap"]
    static let sources = ["http", "sync", "sql", "system"]
    /// Of a value on a page; the rest is in the log.
    static let valueByteCount = 300

    /// What an operation did, after who did it.
    private static func words(_ operation: String) -> String {
        switch operation {
        case "create": "made it"
        case "update": "changed it"
        case "delete": "deleted it for ever"
        case "trash": "moved it into the trash"
        case "restore": "took it out of the trash"
        case "baseline": "was there when the log began"
        default: "the log begins here, or misses what happened before"
        }
    }

    static func values(of entry: JSON, _ schema: Schema, isHistory: Bool) -> [String: Any] {
        let operation = text(entry["operation"]) ?? ""
        let className = text(entry["class"])
        let key = text(entry["object"]) ?? ""
        var values: [String: Any] = [
            "id": text(entry["id"]) ?? "", "at": text(entry["at"]) ?? "", "time": shortTime(text(entry["at"]) ?? ""),
            "what": words(operation), "who": who(entry), "whence": whence(entry), "key": key,
            "className": className ?? "",
        ]
        if let list = text(entry["list"]) { values["list"] = list }
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

    private static func who(_ entry: JSON) -> String {
        if let name = text(entry["userName"]), !name.isEmpty { return name }
        if let user = text(entry["user"]) { return "user \(user)" }
        switch text(entry["source"]) {
        case "system": return "The server"
        case "sync": return "A device"
        case "http": return "Somebody who isn't logged in"
        default: return "Plain SQL by \(text(entry["databaseUser"]) ?? "a service")"
        }
    }

    private static func whence(_ entry: JSON) -> String {
        var parts: [String] = []
        switch text(entry["source"]) {
        case "http": parts.append("over HTTP")
        case "sync": parts.append("by sync, device \(text(entry["client"]) ?? "unknown")")
        case "sql": parts.append("with SQL")
        default: break
        }
        if let address = text(entry["address"]), !address.isEmpty { parts.append("from \(address)") }
        if let route = text(entry["route"]) { parts.append(route) }
        return parts.joined(separator: ", ")
    }

    private static func changes(_ entry: JSON, canPutBack: Bool) -> [[String: Any]] {
        let (before, after) = (members(entry["before"]), members(entry["after"]))
        var rows: [[String: Any]] = Set(before.keys).union(after.keys).sorted().map { name in
            var row: [String: Any] = ["name": name]
            row["before"] = before[name].map(display) ?? "—"
            row["after"] = after[name].map(display) ?? "—"
            if canPutBack, before[name] != nil { row["canPutBack"] = true }
            return row
        }
        if case .array(let secret)? = entry["secret"] {
            rows += secret.compactMap { text($0) }.map { ["name": $0, "before": "secret", "after": "secret"] }
        }
        return rows
    }

    private static func members(_ json: JSON?) -> [String: JSON] {
        if case .object(let members)? = json { members } else { [:] }
    }

    private static func display(_ json: JSON) -> String {
        switch json {
        case .null: "nothing"
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
