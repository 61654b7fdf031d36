import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore

/// Converts entries to JSON: `{"items": […], "next": "…", "upTo": "…"}`. `next` is missing on the last page; `upTo`
/// says how far the log reaches.
struct AuditPage {
    let view: AuditView
    let limit: Int

    func json(
        _ rows: PostgresResult, upTo: Int64?, _ connection: PostgresConnection
    ) async throws -> JSON {
        let classes = Dictionary(view.classes.map { (Int64($0.number), $0) }) { first, _ in first }
        let shown = rows.prefix(limit)
        var users: Set<ObjectId> = []
        for row in shown {
            if let text = try row[9].nonNull?.string, let id = try? ObjectId(string: text) { users.insert(id) }
        }
        let names = try await AccountNames.of(users, connection)
        var last: AuditCursor?
        let items = try shown.map { row -> JSON in
            last = AuditCursor(at: try row[1].timestampMicroseconds, id: try row[0].int64)
            return try item(row, classes[try row[3].int64], names)
        }
        var answer: [String: JSON] = [
            "items": .array(items), "upTo": upTo.map { .string(JSON.timestamp($0)) } ?? .null,
        ]
        if rows.count > limit, let last { answer["next"] = .string(last.text) }
        return .object(answer)
    }

    private func item(
        _ row: PostgresRow, _ found: AuditView.Class?, _ names: [String: String]
    ) throws -> JSON {
        func text(_ column: Int) throws -> JSON { try row[column].nonNull.map { .string(try $0.string) } ?? .null }
        let user = try row[9].nonNull?.string
        var (before, after) = (try Self.pairs(row[14]), try Self.pairs(row[15]))
        let trash = after.removeValue(forKey: LoggedValue.trashColumn) ?? nil
        let isTrashChange = before.removeValue(forKey: LoggedValue.trashColumn) != nil
        let reasons = [after, before].compactMap { $0[LoggedValue.trashReasonColumn] ?? nil }
        let operation: AuditFilter.Operation =
            switch try row[6].string {
            case "c": .create
            case "e": .delete
            case "b": .baseline
            case "g": .gap
            default: !isTrashChange ? .update : trash == "true" ? .trash : .restore
            }
        var members: [String: JSON] = [
            "id": .string(String(try row[0].int64)), "at": .string(JSON.timestamp(try row[1].timestampMicroseconds)),
            "tick": .int(try row[2].int64), "madeAt": .string(JSON.timestamp(try row[8].int64)),
            "operation": .string(operation.rawValue),
            "source": .string(AuditFilter.Source(code: try row[7].string)?.rawValue ?? ""),
            "user": try text(9), "userName": user.flatMap { names[$0] }.map(JSON.string) ?? .null,
            "client": try row[10].nonNull.map { .string(String(try $0.int64)) } ?? .null, "databaseUser": try text(11),
            "address": try text(12), "route": try text(13),
        ]
        if let found {
            members["class"] = .string(found.root.name)
            members["object"] = try found.item.owner == nil ? text(4) : text(5)
            if found.item.owner != nil {
                members["list"] = .string(found.item.name)
                members["element"] = try text(4)
            }
            if found.seesTrashReasons, let reason = reasons.first { members["trashReason"] = .string(reason) }
            members["before"] = .object(values(before, found))
            members["after"] = .object(values(after, found))
            let secret = try row[16].nonNull?.stringArray ?? []
            members["secret"] = .array(
                secret.compactMap { $0.flatMap { found.columns[$0] } }.map { .string(found.item.columns[$0].name) })
        } else {
            let number = try row[3].int64
            members["class"] =
                number == Int64(LoggedValue.accountClass)
                ? "account"
                : number == Int64(LoggedValue.documentClass) ? "document" : .null
            members["object"] = try text(4)
            members["part"] = try text(5)
            members["before"] = .object(before.mapValues { $0.map(JSON.string) ?? .null })
            members["after"] = .object(after.mapValues { $0.map(JSON.string) ?? .null })
        }
        return .object(members)
    }

    /// A dictionary of an array that alternates names and texts.
    static func pairs(_ cell: PostgresCell) throws -> [String: String?] {
        guard let list = try cell.nonNull?.stringArray else { return [:] }
        var result: [String: String?] = [:]
        for place in stride(from: 0, to: list.count - 1, by: 2) {
            if let name = list[place] { result.updateValue(list[place + 1], forKey: name) }
        }
        return result
    }

    private func values(_ texts: [String: String?], _ found: AuditView.Class) -> [String: JSON] {
        var result: [String: JSON] = [:]
        for (column, value) in Self.values(texts, found, view.schema) {
            result[found.item.columns[column].name] = JSON(value)
        }
        return result
    }

    /// The values of the columns that the caller may see.
    static func values(
        _ texts: [String: String?], _ found: AuditView.Class, _ schema: Schema
    ) -> [Int: TomboloModel.Value] {
        var result: [Int: TomboloModel.Value] = [:]
        for (number, text) in texts {
            guard let column = found.columns[number] else { continue }
            result[column] = LoggedValue.value(text, schema.storedType(of: found.item.columns[column])) ?? .null
        }
        return result
    }
}
