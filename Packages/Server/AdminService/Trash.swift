public import Foundation
public import PostgresClient
import PostgresValues
import TomboloHTTP
public import TomboloModel
import TomboloPostgresStore
import TomboloRules

/// The trash. Deleted objects stay there for a month, visible only to administrators, and can be restored together
/// with everything that was trashed at the same time. The database's own functions, such as `tombolo.trash`, move the
/// rows along with everything that belongs to them. See docs/trash.md.
public struct Trash: Sendable {
    /// How many days an object stays before it's permanently deleted, unless `tombolo.trash_retention` says
    /// otherwise.
    public static let retentionDays = 30
    /// The most objects that are restored or deleted at once: one object and everything it took along.
    public static let groupLimit = TrashLimits.takenAlong + 1

    let schema: Schema
    let pool: PostgresPool
    let reader: RowReader

    public init(schema: Schema, pool: PostgresPool) {
        self.schema = schema
        self.pool = pool
        reader = RowReader(schema: schema, pool: pool)
    }

    /// The classes that have a trash, by name.
    public var classes: [ClassSchema] { Self.classes(of: schema) }

    package static func classes(of schema: Schema) -> [ClassSchema] {
        schema.classes.filter { $0.isTrashable && $0.owner == nil && $0.primaryKey != nil }
    }

    /// The objects that were moved into the trash together.
    public struct Group: Hashable, Sendable {
        public let id: UUID
        /// The number of objects in the group.
        public let count: Int
    }

    /// Moves an object into the trash. The database moves what belongs to it along: a house takes its viewings.
    /// - Parameter reason: stored with each object that goes, for callers who may list the trash.
    /// - Throws: `RequestFailure`: 404 if it's gone or already in the trash, 409 if too much belongs to it.
    public func trash(
        _ className: String, _ key: Value, by user: ObjectId?, because reason: TrashReason? = nil
    ) async throws -> Group {
        try await pool.transaction { try await trash(className, key, by: user, because: reason, on: $0) }
    }

    /// The same within the caller's transaction, which must be rolled back if this throws.
    nonisolated(nonsending) public func trash(
        _ className: String, _ key: Value, by user: ObjectId?, because reason: TrashReason? = nil,
        on connection: PostgresConnection
    ) async throws -> Group {
        let group = UUID()
        do {
            try await move(className, key, group, by: user, because: reason, connection)
            return Group(id: group, count: try await counts(of: group, connection).values.reduce(0, +))
        } catch let error as PostgresError where error.constraintName == TrashLimits.constraint {
            throw Self.takesTooMuch(className, error)
        }
    }

    static func takesTooMuch(_ className: String, _ error: PostgresError) -> RequestFailure {
        RequestFailure(
            .conflict,
            Wording("More than \(TrashLimits.takenAlong) objects would go into the trash with this \(className)."),
            hint: Wording("First move the objects that link to it into the trash, in parts."), cause: error)
    }

    nonisolated(nonsending) func move(
        _ className: String, _ key: Value, _ group: UUID, by user: ObjectId?, because reason: TrashReason? = nil,
        _ connection: PostgresConnection
    ) async throws {
        let moved = try await connection.query(
            "SELECT tombolo.trash($1, $2, $3, $4, $5)",
            [
                .text(className), .text(key.keyText), .text(user?.stringValue), .uuid(group), .text(reason?.text),
            ])
        guard try moved[0, 0].bool else { throw RequestFailure.noSuchObject(className) }
    }

    /// The number of objects of each class in a group.
    nonisolated(nonsending) func counts(
        of group: UUID, _ connection: PostgresConnection
    ) async throws -> [String: Int] {
        let counts = classes.map {
            "SELECT \(PostgresSQL.quoteLiteral($0.name))::text AS name, count(*) AS n "
                + "FROM \(PostgresSQL.quoteIdentifier($0.table)) WHERE trash_group = $1"
        }
        let found = try await connection.query(
            "SELECT c.name, c.n FROM (\(counts.joined(separator: " UNION ALL "))) c WHERE c.n > 0", [.uuid(group)])
        return Dictionary(
            try found.map { (try $0[0].string, try $0[1].int) }, uniquingKeysWith: { first, _ in first })
    }
}
