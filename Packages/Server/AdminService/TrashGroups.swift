package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
import TomboloSQL

/// The trash by group, newest first, for pages on which people decide about things that were trashed together.
package struct TrashGroups: Sendable {
    package static let pageSize = 50
    /// The number of objects of one group that ``members(of:filters:)`` returns.
    package static let memberLimit = 200

    /// A group, or a single object without a group.
    package struct Entry: Sendable {
        /// The text that ``TrashAddress`` reads.
        package let address: String
        /// In microseconds since 1970, for the object that was trashed last.
        package let trashedAt: Int64
        /// The name of the user who trashed it, or an id if no account has it; nil if it wasn't a user.
        package let trashedBy: String?
        /// The reason that the user gave; nil if there was none.
        package let reason: String?
        /// When the last of its objects is due; nil for never.
        package let purgeAt: Int64?
        /// Why the app keeps it, or why the automatic purge kept it when it was due; nil if neither does.
        package let keptBecause: String?
        /// Whether it won't be deleted at ``purgeAt``: the purge kept it then, or the app says that it will be kept.
        package let isKeptWhenDue: Bool
        /// By class, limited to what the caller may see, in alphabetical order.
        package let counts: [(className: String, count: Int)]
        /// The object that took the others along, or the only one; nil if that can't be determined. Values that the
        /// caller may not read are null.
        package let head: (className: String, key: Value, row: Row)?

        package var count: Int { counts.reduce(0) { $0 + $1.count } }
    }

    package struct Page: Sendable {
        package let entries: [Entry]
        package let hasMore: Bool
    }

    let schema: Schema
    let pool: PostgresPool
    private let hidden: [Int: Set<Int>]

    /// - Parameter hidden: columns whose values the caller may not read, by class.
    package init(schema: Schema, hidden: [Int: Set<Int>], pool: PostgresPool) {
        self.schema = schema
        self.hidden = hidden
        self.pool = pool
    }

    /// - Parameters:
    ///   - number: from 1.
    ///   - filters: by class, the objects that the caller may see and asks for; other classes are left out.
    ///   - address: the address of the only group to return.
    package func page(_ number: Int, filters: [String: Predicate], only address: String? = nil) async throws -> Page {
        try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            let retention = try await TrashRetention.read(connection)
            let source = try source(filters, retention)
            guard !source.sql.isEmpty else { return Page(entries: [], hasMore: false) }
            let found = try await connection.query(
                """
                SELECT x.g, \(Trash.readableTime("max(x.t)")), max(x.by), nullif(max(x.p), 'infinity'), max(x.r)
                FROM (\(source.sql)) x
                WHERE $1::text IS NULL OR x.g = $1::text COLLATE "C"
                GROUP BY x.g ORDER BY max(x.t) DESC, x.g LIMIT \(Self.pageSize + 1) OFFSET \((number - 1) * Self.pageSize)
                """, [.text(address)] + source.parameters)
            let page = found.prefix(Self.pageSize)
            let addresses = try page.map { try $0[0].string }
            let counted = try await connection.query(
                """
                SELECT x.g, x.class, count(*)::int, min(x.id) FROM (\(source.sql)) x WHERE x.g = ANY ($1)
                GROUP BY x.g, x.class ORDER BY x.g, x.class
                """, [.textArray(addresses)] + source.parameters)
            // By address, as a text value, since addresses are compared by their bytes.
            var counts: [Value: [(className: String, count: Int)]] = [:]
            var keys: [Value: [String: Value]] = [:]
            for row in counted {
                let (group, name) = (Value.string(try row[0].string), try row[1].string)
                counts[group, default: []].append((name, try row[2].int))
                keys[group, default: [:]][name] = try schema[name].flatMap { Trash.key(try row[3].string, $0) }
            }
            var heads: [Value: (className: String, key: Value)] = [:]
            for (group, counts) in counts {
                guard let name = head(of: counts), let key = keys[group]?[name] else { continue }
                heads[group] = (name, key)
            }
            let rows = try await rows(heads.values.map { $0 }, connection)
            let people = try await texts(
                """
                SELECT encode(a.id, 'hex'), a.display_name FROM tombolo.account a
                WHERE a.id IN (
                    SELECT decode(t, 'hex') FROM unnest($1) AS t WHERE t ~ '^[0-9a-f]{24}$')
                """, page.compactMap { try $0[2].nonNull?.string }, connection)
            let reasons = try await reasons(source, of: addresses, connection)
            let entries = try page.map { row in
                let address = try row[0].string
                let group = Value.string(address)
                return Entry(
                    address: address, trashedAt: try row[1].timestampMicroseconds,
                    trashedBy: try row[2].nonNull.map { try people[.string($0.string)] ?? $0.string },
                    reason: try row[4].nonNull?.string,
                    purgeAt: try row[3].nonNull?.timestampMicroseconds,
                    keptBecause: reasons[group]?.text, isKeptWhenDue: reasons[group]?.holdsWhenDue ?? false,
                    counts: counts[group] ?? [],
                    head: heads[group].flatMap { head in
                        rows[TrashAddress(head.className, head.key)].map { (head.className, head.key, $0) }
                    })
            }
            return Page(entries: entries, hasMore: found.count > Self.pageSize)
        }
    }

    /// The objects of a group that the caller may see, by class and key, up to ``memberLimit``.
    package func members(
        of address: TrashAddress, filters: [String: Predicate]
    ) async throws -> [(className: String, key: Value, row: Row)] {
        try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            var found: [(className: String, key: Value)] = []
            for (name, filter) in filters.sorted(by: { $0.key < $1.key }) {
                guard let item = schema[name], item.isTrashable, found.count < Self.memberLimit,
                    let (column, value) = try address.condition(item)
                else { continue }
                let condition = try filter.sql(
                    .postgresql, className: name, in: schema, alias: "o", firstParameter: 2)
                let keys = try await connection.query(
                    """
                    SELECT \(Trash.keyText(item)) FROM \(PostgresSQL.quoteIdentifier(item.table)) o
                    WHERE o.\(column) = $1 AND o.trashed_at IS NOT NULL AND \(condition.sql)
                    ORDER BY o.\(Trash.key(item)) LIMIT \(Self.memberLimit - found.count)
                    """, [value] + condition.parameters.map { try PostgresParameter($0) })
                found += try keys.compactMap { row in Trash.key(try row[0].string, item).map { (name, $0) } }
            }
            let rows = try await rows(found, connection)
            return found.compactMap { member in
                rows[TrashAddress(member.className, member.key)].map { (member.className, member.key, $0) }
            }
        }
    }

    /// The number of groups, and the number of objects by class.
    package func totals(
        filters: [String: Predicate]
    ) async throws -> (groups: Int, counts: [(className: String, count: Int)]) {
        try await pool.transaction(isolation: .repeatableRead, readOnly: true) { connection in
            let source = try source(filters, TrashRetention())
            guard !source.sql.isEmpty else { return (0, []) }
            let groups = try await connection.query(
                "SELECT count(DISTINCT x.g)::int FROM (\(source.sql)) x WHERE $1::text IS NULL",
                [.text(nil)] + source.parameters)
            let counts = try await connection.query(
                "SELECT x.class, count(*)::int FROM (\(source.sql)) x WHERE $1::text IS NULL GROUP BY 1 ORDER BY 1",
                [.text(nil)] + source.parameters)
            return (try groups[0, 0].int, try counts.map { (try $0[0].string, try $0[1].int) })
        }
    }

    /// The address of the group that contains an object in the trash; nil if the caller may see no such object.
    package func address(of object: TrashAddress, filters: [String: Predicate]) async throws -> String? {
        var filters = filters
        let key: String
        switch object {
        case .group: return nil
        case .object(let id): key = id.stringValue
        case .keyed(let className, let text):
            filters = filters.filter { $0.key == className }
            key = text
        }
        let source = try source(filters, TrashRetention())
        guard !source.sql.isEmpty else { return nil }
        let found = try await pool.query(
            "SELECT x.g FROM (\(source.sql)) x WHERE x.id = $1 LIMIT 1", [.text(key)] + source.parameters)
        return try found.first.map { try $0[0].string }
    }

    // MARK: Reading

    /// All rows of the trash that match the filters: group, class, key, time, user, purge time and reason. The first
    /// parameter is `$2`.
    func source(
        _ filters: [String: Predicate], _ retention: TrashRetention
    ) throws -> (sql: String, parameters: [PostgresParameter]) {
        var parts: [String] = []
        var parameters: [PostgresParameter] = []
        for (name, filter) in filters.sorted(by: { $0.key < $1.key }) {
            guard let item = schema[name], item.isTrashable else { continue }
            let condition = try filter.sql(
                .postgresql, className: name, in: schema, alias: "o", firstParameter: parameters.count + 2)
            parameters += try condition.parameters.map { try PostgresParameter($0) }
            parts.append(
                """
                SELECT \(Trash.address(item)) AS g, \(PostgresSQL.quoteLiteral(name)) AS class,
                    \(Trash.keyText(item)) AS id, o.trashed_at AS t, o.trashed_by AS by, \(retention.time(of: item)) AS p,
                    o.trash_reason AS r
                FROM \(PostgresSQL.quoteIdentifier(item.table)) o WHERE o.trashed_at IS NOT NULL AND \(condition.sql)
                """)
        }
        return (parts.joined(separator: "\nUNION ALL\n"), parameters)
    }

    /// The class of the object that took the others along: the class with a single object that links to none of the
    /// others.
    private func head(of counts: [(className: String, count: Int)]) -> String? {
        let names = Set(counts.map(\.className))
        let found = counts.filter { part in
            guard part.count == 1, let item = schema[part.className] else { return false }
            return names.count == 1
                || item.columns.allSatisfy { column in
                    column.linkTarget.map { $0 == part.className || !names.contains($0) } ?? true
                }
        }
        return found.count == 1 ? found[0].className : nil
    }

    /// Runs a query on a list of texts, and returns its second column by its first, a text.
    nonisolated(nonsending) func texts(
        _ sql: String, _ names: [String], _ connection: PostgresConnection
    ) async throws -> [Value: String] {
        guard !names.isEmpty else { return [:] }
        let found = try await connection.query(sql, [.textArray(names)])
        return Dictionary(
            try found.map { (.string(try $0[0].string), try $0[1].string) }, uniquingKeysWith: { first, _ in first })
    }

    /// Objects in the trash by their addresses, with the values that pages show: no bytes, and only the beginnings of
    /// texts that needn't be unique.
    nonisolated(nonsending) func rows(
        _ objects: [(className: String, key: Value)], _ connection: PostgresConnection
    ) async throws -> [TrashAddress: Row] {
        let reader = RowReader(schema: schema, pool: pool)
        var result: [TrashAddress: Row] = [:]
        for (name, members) in Dictionary(grouping: objects, by: \.className) {
            guard let index = schema.index(of: name), let key = schema[index].primaryKeyIndex else { continue }
            let item = schema[index]
            let found = try await connection.query(
                """
                SELECT \(shownColumns(of: item)) FROM \(PostgresSQL.quoteIdentifier(item.table)) "o"
                WHERE o.\(Trash.key(item)) = ANY ($1) AND o.trashed_at IS NOT NULL
                """, [try Trash.list(members.map(\.key), item)])
            for source in found {
                var row = try reader.row(source, of: item)
                let address = TrashAddress(name, row[key])
                for column in hidden[index] ?? [] { row[column] = .null }
                result[address] = row
            }
        }
        return result
    }

    /// The number of characters of a text that are read, enough for a title.
    private static let shownCharacterCount = 512

    private func shownColumns(of item: ClassSchema) -> String {
        // Unique values are needed in full, since a restore's form lets users edit them.
        let unique = Set(item.uniqueColumns.joined())
        return item.columns.enumerated().map { place, column in
            let name = PostgresSQL.quoteIdentifier("o", column.sqlName)
            if column.isPrimaryKey || column.linkTarget != nil || unique.contains(place) { return name }
            switch schema.storedType(of: column) {
            case .string: return "left(\(name)::text, \(Self.shownCharacterCount))"
            case .data: return "NULL::bytea"
            default: return name
            }
        }.joined(separator: ", ")
    }
}
