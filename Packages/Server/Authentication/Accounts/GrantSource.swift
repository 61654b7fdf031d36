import Foundation
import PostgresClient
public import TomboloModel

/// A table whose rows give users their roles. Each row names a user, a role, and optionally the scope in which the role
/// counts, such as an event. An app's rules say which class of its model that is.
public struct GrantSource: Hashable, Sendable {
    /// The table's name in the schema `public`.
    public let table: String
    public let userColumn: String
    /// `objectId`, or `string` for a column with the 24 hexadecimal digits.
    public let userType: PropertyType
    /// A text column.
    public let roleColumn: String
    /// Nil if every role in the table applies everywhere. A row with null in this column applies everywhere, too.
    public let scopeColumn: String?
    /// `objectId`, `uuid`, `int` or `string`: the type of the scope's primary key.
    public let scopeType: PropertyType
    /// Whether the table has a trash. A row in the trash gives nothing.
    public let isTrashable: Bool

    /// - Parameters:
    ///   - className: a class of the schema, each of whose objects gives one role.
    ///   - user: the name of its property for the user: a link to the class of users, an `ObjectId` or a `String`.
    ///   - role: the name of its property for the role: a `String` or an enumeration of strings.
    ///   - scope: the name of its property for the scope: a link, an `ObjectId`, a `UUID`, an `Int` or a `String`.
    /// - Throws: ``ValueError`` if the schema lacks one of them, or a property has another type.
    public init(
        _ schema: Schema, className: String, user: String, role: String, scope: String? = nil
    ) throws(ValueError) {
        guard let item = schema[className], item.owner == nil else {
            throw ValueError(
                "There is no class '\(className)' to take roles from.\(Self.hint(className, schema.classes))")
        }
        func column(_ name: String, _ purpose: String, _ accepted: [PropertyType]) throws(ValueError) -> (
            String, PropertyType
        ) {
            guard let index = item.columnIndex(name) else {
                throw ValueError(
                    "\(className) has no property '\(name)' for \(purpose).\(Self.hint(name, item.columns))")
            }
            let type = schema.storedType(of: item.columns[index]).withoutWidth
            guard accepted.contains(type) else {
                let names = accepted.map(\.name).joined(separator: ", ")
                throw ValueError(
                    "\(className).\(name) is of type \(type.name), which can't be \(purpose). Possible types: "
                        + "\(names).")
            }
            return (item.columns[index].sqlName, type)
        }
        table = item.table
        (userColumn, userType) = try column(user, "the user", [.objectId, .string])
        (roleColumn, _) = try column(role, "the role", [.string])
        if let scope {
            let (name, type) = try column(scope, "the scope", [.objectId, .uuid, .int(bits: 64), .string])
            (scopeColumn, scopeType) = (name, type)
        } else {
            (scopeColumn, scopeType) = (nil, .objectId)
        }
        isTrashable = item.isTrashable
    }

    private static func hint(_ name: String, _ classes: [ClassSchema]) -> String {
        name.nearest(in: classes.map(\.name)).map { " Did you mean '\($0)'?" } ?? ""
    }

    private static func hint(_ name: String, _ columns: [Column]) -> String {
        name.nearest(in: columns.map(\.name)).map { " Did you mean '\($0)'?" } ?? ""
    }
}

// MARK: SQL

extension GrantSource {
    /// A query for role, scope as text, and `position`, for the account `a`.
    func query(position: Int) -> String {
        let user = userType == .string ? "encode(a.id, 'hex')" : "a.id"
        let scope = scopeColumn.map { scopeType.text(of: "g.\(PostgresSQL.quoteIdentifier($0))") } ?? "NULL::text"
        let live = isTrashable ? " AND g.trashed_at IS NULL" : ""
        return """
            SELECT g.\(PostgresSQL.quoteIdentifier(roleColumn)) AS role, \(scope) AS scope, \(position) AS source \
            FROM \(PostgresSQL.quoteIdentifier("public", table)) g \
            WHERE g.\(PostgresSQL.quoteIdentifier(userColumn)) = \(user)\(live)
            """
    }

    /// The scope in a row of ``query(position:)``; nil for text that isn't a key of the type.
    func scope(_ text: String) -> Value? { scopeType.key(text) }
}

extension PropertyType {
    /// The type, without distinguishing integers by width.
    fileprivate var withoutWidth: PropertyType {
        if case .int = self { .int(bits: 64) } else { self }
    }

    fileprivate func text(of expression: String) -> String {
        self == .objectId ? "encode(\(expression), 'hex')" : "\(expression)::text"
    }

    fileprivate func key(_ text: String) -> Value? {
        switch self {
        case .objectId: (try? ObjectId(string: text)).map(Value.objectId)
        case .uuid: UUID(uuidString: text).map(Value.uuid)
        case .int: Int64(text).map(Value.int)
        default: .string(text)
        }
    }
}
