public import Foundation
public import PostgresClient
import PostgresValues
import TomboloHTTP
public import TomboloModel
import TomboloRules

/// The trash: what is deleted stays there for a month, for administrators only, and can be restored with what went
/// into it at the same time. Rows are moved by the database's own functions `tombolo.trash` and `tombolo.restore`.
public struct Trash: Sendable {
    /// How long an object stays before it is deleted for ever, in days.
    public static let retentionDays = 30
    static let retentionMicroseconds = Int64(retentionDays) * 24 * 60 * 60 * 1_000_000
    /// The most objects of one class that are restored in one go.
    public static let groupLimit = RowReader.rowLimit

    let schema: Schema
    private let pool: PostgresPool
    private let reader: RowReader

    public init(schema: Schema, pool: PostgresPool) {
        self.schema = schema
        self.pool = pool
        reader = RowReader(schema: schema, pool: pool)
    }

    /// The classes that have a trash, by name order.
    public var classes: [ClassSchema] { Self.classes(of: schema) }

    static func classes(of schema: Schema) -> [ClassSchema] {
        schema.classes.filter { $0.isTrashable && $0.owner == nil && $0.primaryKey?.type == .objectId }
    }

    /// The quoted name of the primary key's column.
    static func key(_ item: ClassSchema) -> String { PostgresSQL.quoteIdentifier(item.primaryKey?.sqlName ?? "_id") }

    /// What was moved into the trash together.
    public struct Group: Hashable, Sendable {
        public let id: UUID
        /// The number of objects in it.
        public let count: Int
    }

    /// Moves an object into the trash, and with it the live objects of trashable classes that link to it: a house
    /// takes its viewings along.
    /// - Throws: `RequestFailure` with status 404 when it is gone or in the trash by now.
    public func trash(_ className: String, _ id: ObjectId, by user: ObjectId?) async throws -> Group {
        try await pool.transaction { try await trash(className, id, by: user, on: $0) }
    }

    /// The same in a transaction of the caller's.
    nonisolated(nonsending) public func trash(
        _ className: String, _ id: ObjectId, by user: ObjectId?, on connection: PostgresConnection
    ) async throws -> Group {
        let group = UUID()
        let by = PostgresParameter.text(user?.stringValue)
        let moved = try await connection.query(
            "SELECT tombolo.trash($1, $2, $3, $4)",
            [.text(className), .text(id.stringValue), by, .uuid(group)])
        guard try moved[0, 0].bool else { throw RequestFailure.noSuchObject(className) }
        var count = 1
        for (item, column) in links(to: className) {
            let result = try await connection.query(
                """
                SELECT count(*) FILTER (WHERE tombolo.trash($1, encode(o.id, 'hex'), $2, $3))
                FROM (
                    SELECT \(Self.key(item)) AS id FROM \(PostgresSQL.quoteIdentifier(item.table))
                    WHERE \(PostgresSQL.quoteIdentifier(column.sqlName)) = $4 AND trashed_at IS NULL
                    ORDER BY \(Self.key(item))
                ) o
                """, [.text(item.name), by, .uuid(group), .objectId(id)])
            count += try result[0, 0].int
        }
        return Group(id: group, count: count)
    }

    /// The links from trashable classes to a class.
    private func links(to className: String) -> [(item: ClassSchema, column: Column)] {
        classes.flatMap { item in
            item.columns.filter { $0.linkTarget == className && item.name != className }.map { (item, $0) }
        }
    }
}

// MARK: Restoring

extension Trash {
    /// An object in the trash.
    struct Member: Hashable, Sendable {
        let className: String
        let id: ObjectId
        let row: Row
    }

    /// Takes objects out of the trash, all or none.
    /// - Parameters:
    ///   - address: the id of a group, for all that is in it, or the id of one object, for it alone.
    ///   - mayRestore: whether the caller may do so with an object.
    /// - Returns: what was restored.
    /// - Throws: `RequestFailure`: 404 where there is nothing in the trash, 403 where `mayRestore` says no, 409 that
    ///   names the properties where a live object has the same unique values, or where the object that it belongs to
    ///   is in the trash itself.
    func restore(
        _ address: TrashAddress, mayRestore: @Sendable (Member) -> Bool
    ) async throws -> [Member] {
        do {
            return try await pool.transaction { connection in
                let members = try await members(of: address, connection)
                guard !members.isEmpty else {
                    throw RequestFailure(
                        .notFound, "There is nothing in the trash with this id.",
                        hint: "GET /admin/trash lists what there is; give the id of an object or of a group.")
                }
                guard members.allSatisfy(mayRestore) else {
                    throw RequestFailure(.forbidden, "Not permitted to restore all of it.")
                }
                try await checkOwners(of: members, connection)
                for member in members {
                    try await connection.query(
                        "SELECT tombolo.restore($1, $2)", [.text(member.className), .text(member.id.stringValue)])
                }
                return members
            }
        } catch let error as PostgresError where error.code == .uniqueViolation {
            throw clash(error)
        }
    }

    /// Rows are locked, so that two administrators do not restore the same thing at once.
    nonisolated(nonsending) private func members(
        of address: TrashAddress, _ connection: PostgresConnection
    ) async throws -> [Member] {
        var members: [Member] = []
        for item in classes {
            let (condition, parameter) =
                switch address {
                case .group(let id): ("trash_group", PostgresParameter.uuid(id))
                case .object(let id): (Self.key(item), PostgresParameter.objectId(id))
                }
            let result = try await connection.query(
                """
                SELECT \(RowReader.columns(of: item, alias: "o")) FROM \(PostgresSQL.quoteIdentifier(item.table)) "o"
                WHERE o.\(condition) = $1 AND o.trashed_at IS NOT NULL
                ORDER BY o.\(Self.key(item)) LIMIT \(Self.groupLimit) FOR UPDATE
                """, [parameter])
            for source in result {
                let row = try reader.row(source, of: item)
                guard let key = item.primaryKeyIndex, case .objectId(let id) = row[key] else { continue }
                members.append(Member(className: item.name, id: id, row: row))
            }
        }
        return members
    }

    /// An object would come back without what it belongs to.
    nonisolated(nonsending) private func checkOwners(
        of members: [Member], _ connection: PostgresConnection
    ) async throws {
        let restored = Set(members.map(\.id))
        for item in classes {
            for (index, column) in item.columns.enumerated() {
                guard let target = column.linkTarget.flatMap({ schema[$0] }), target.isTrashable else { continue }
                let keys = members.compactMap { member -> ObjectId? in
                    guard member.className == item.name, case .objectId(let key) = member.row[index],
                        !restored.contains(key)
                    else { return nil }
                    return key
                }
                let wanted = PostgresParameter.byteaArray(Set(keys).map(\.bytes))
                let (table, key) = (PostgresSQL.quoteIdentifier(target.table), Self.key(target))
                let found = try await connection.query(
                    "SELECT \(key) FROM \(table) WHERE \(key) = ANY($1) AND trashed_at IS NOT NULL LIMIT 1", [wanted])
                guard let row = found.first else { continue }
                throw RequestFailure(
                    .conflict, "The \(target.name) that this \(item.name) belongs to is in the trash too.",
                    hint: "Restore the \(target.name) \(try row[0].objectId) first.", properties: [column.name])
            }
        }
    }

    private func clash(_ error: PostgresError) -> RequestFailure {
        var failure = RequestFailure(error)
        let item = classes.first { $0.table == error.tableName }
        var properties = failure.properties.map { name in
            item?.columns.first { $0.sqlName == name }?.name ?? name
        }
        if properties.isEmpty, let item {
            // The server keeps values to itself where row-level security applies; the rule's name tells the columns.
            properties =
                item.uniqueColumns.map { $0.map { item.columns[$0] } }
                .first { columns in
                    error.constraintName?.contains(columns.map(\.sqlName).joined(separator: "_")) == true
                }?
                .map(\.name) ?? []
        }
        let name = item?.name ?? "object"
        let list = properties.isEmpty ? "unique values" : properties.joined(separator: " and ")
        failure.properties = properties
        failure.message = "A live \(name) has the same \(list); nothing was restored."
        failure.hint = "Change \(list) of the live \(name), or move it into the trash; then restore again."
        return failure
    }
}
