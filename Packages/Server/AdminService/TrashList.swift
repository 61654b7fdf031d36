public import PostgresClient
import PostgresValues
import TomboloHTTP
public import TomboloModel
import TomboloSQL

/// Lists of the trash, newest first, in pages.
public struct TrashList: Sendable {
    public static let pageSize = 50

    private let schema: Schema
    private let pool: PostgresPool
    private let reader: RowReader
    private let hidden: [Int: Set<Int>]

    /// - Parameter hidden: columns whose values the caller may not read, by class.
    public init(schema: Schema, hidden: [Int: Set<Int>] = [:], pool: PostgresPool) {
        self.schema = schema
        self.hidden = hidden
        self.pool = pool
        reader = RowReader(schema: schema, pool: pool)
    }

    /// One page as JSON: `{"items": […], "page": 1, "hasMore": false}`. An item has class, id, address, who trashed
    /// it, when and why, when it is permanently deleted and what keeps its group from that, its group, and the object
    /// with all its properties. The object is null if the page's objects exceed what the caller may read.
    /// - Parameters:
    ///   - filters: by class, the objects that the caller may see and asks for; other classes are left out.
    ///   - listing: by class, the objects that the caller may see. Other objects of its group may be the reason why
    ///     an object is kept.
    func page(_ number: Int, filters: [String: Predicate], listing: [String: Predicate]) async throws -> JSON {
        do {
            return try await page(number, filters, listing, hasObjects: true)
        } catch let error as PostgresError where error.code == .resultTooLarge {
            return try await page(number, filters, listing, hasObjects: false)
        }
    }

    private func page(
        _ number: Int, _ filters: [String: Predicate], _ listing: [String: Predicate], hasObjects: Bool
    ) async throws -> JSON {
        var parts: [String] = []
        var parameters: [PostgresParameter] = []
        for (name, filter) in filters.sorted(by: { $0.key < $1.key }) {
            guard let item = schema[name], item.isTrashable else { continue }
            let condition = try filter.sql(
                .postgresql, className: name, in: schema, alias: "o", firstParameter: parameters.count + 1)
            parameters += try condition.parameters.map { try PostgresParameter($0) }
            parts.append(
                """
                SELECT \(PostgresSQL.quoteLiteral(name)) AS class, \(Trash.keyText(item)) AS id, o.trashed_at, o.trashed_by,
                    o.trash_group, o.trash_reason, \(Trash.address(item)) AS g
                FROM \(PostgresSQL.quoteIdentifier(item.table)) o WHERE o.trashed_at IS NOT NULL AND \(condition.sql)
                """)
        }
        guard !parts.isEmpty else { return ["items": [], "page": .int(Int64(number)), "hasMore": false] }
        let sql = """
            SELECT t.class, t.id, \(Trash.readableTime("t.trashed_at")), t.trashed_by, t.trash_group, t.trash_reason, t.g
            FROM (
            \(parts.joined(separator: "\nUNION ALL\n"))
            ) t ORDER BY t.trashed_at DESC, t.class, t.id
            LIMIT \(Self.pageSize + 1) OFFSET \((number - 1) * Self.pageSize)
            """
        return try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            let found = try await connection.query(sql, parameters)
            let retention = try await TrashRetention.read(connection)
            let groups = TrashGroups(schema: schema, hidden: hidden, pool: pool)
            let reasons = try await groups.reasons(
                groups.source(listing, retention),
                of: Set(found.prefix(Self.pageSize).map { Value.string(try $0[6].string) }).map(\.keyText), connection)
            let items = try await items(found, retention, reasons, hasObjects: hasObjects, connection)
            return [
                "items": .array(items), "page": .int(Int64(number)), "hasMore": .bool(found.count > Self.pageSize),
            ]
        }
    }

    nonisolated(nonsending) private func items(
        _ found: PostgresResult, _ retention: TrashRetention, _ reasons: [Value: TrashGroups.Reason],
        hasObjects: Bool, _ connection: PostgresConnection
    ) async throws -> [JSON] {
        let reader = reader.on(connection)
        let page = found.prefix(Self.pageSize)
        var keys: [String: [Value]] = [:]
        var users: Set<ObjectId> = []
        for row in page {
            let name = try row[0].string
            if let key = try schema[name].flatMap({ Trash.key(try row[1].string, $0) }) {
                keys[name, default: []].append(key)
            }
            if let by = try row[3].nonNull?.string, let id = try? ObjectId(string: by) { users.insert(id) }
        }
        var objects: [TrashAddress: JSON] = [:]
        for (name, keys) in keys where hasObjects {
            guard let item = schema[name], let key = item.primaryKeyIndex else { continue }
            let rows = try await reader.objects(
                name, matching: .isIn(PropertyPath(item.columns[key].name), keys), isTrashed: true)
            let names = schema.index(of: name).flatMap { hidden[$0]?.map { item.columns[$0].name } } ?? []
            for row in rows { objects[TrashAddress(name, row[key])] = JSON(row, of: item).without(names) }
        }
        let names = try await AccountNames.of(users, connection)
        return try page.map { row -> JSON in
            let (className, text) = (try row[0].string, try row[1].string)
            let address = schema[className].flatMap { Trash.key(text, $0) }.map { TrashAddress(className, $0) }
            let time = try row[2].timestampMicroseconds
            let by = try row[3].nonNull?.string
            let kept = reasons[.string(try row[6].string)]
            let purge = schema[className].flatMap { retention.purgeTime(of: $0, trashedAt: time) }
            return [
                "class": .string(className), "_id": .string(text), "address": address.map { .string($0.text) } ?? .null,
                "trashedAt": .string(JSON.timestamp(time)),
                "purgeAt": purge.map { .string(JSON.timestamp($0)) } ?? .null,
                "keptBecause": kept.map { .string($0.text) } ?? .null,
                "isKeptWhenDue": .bool(kept?.holdsWhenDue ?? false),
                "trashedBy": by.map(JSON.string) ?? .null,
                "trashedByName": by.flatMap { names[$0] }.map(JSON.string) ?? .null,
                "group": try row[4].nonNull.map { JSON(.uuid(try $0.uuid)) } ?? .null,
                "reason": try row[5].nonNull.map { .string(try $0.string) } ?? .null,
                "object": address.flatMap { objects[$0] } ?? .null,
            ]
        }
    }
}

extension JSON {
    fileprivate func without(_ names: [String]) -> JSON {
        guard case .object(var members) = self else { return self }
        for name in names { members[name] = nil }
        return .object(members)
    }
}
