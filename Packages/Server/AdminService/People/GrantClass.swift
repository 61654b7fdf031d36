import Foundation
import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

/// A class whose objects give users roles, with functions that read and write such objects in the caller's
/// transaction. The rules' `grants` name these classes.
struct GrantClass: Sendable {
    let rules: Rules
    let columns: GrantColumns

    /// An object that gives a role.
    struct Grant: Sendable {
        let key: Value
        let row: Row
    }

    var schema: Schema { rules.schema }
    var item: ClassSchema { schema[columns.classIndex] }

    /// The indexes of the classes that give roles.
    static func indexes(_ rules: Rules) -> Set<Int> { Set(rules.grantColumns.map(\.classIndex)) }

    /// The class with this name. Without a name, the only class that gives roles.
    /// - Throws: `RequestFailure` with status 422 if no such class gives roles, or if the name is missing and several
    ///   classes do.
    static func find(_ name: String?, in rules: Rules) throws -> GrantClass {
        let found = rules.grantColumns.map { GrantClass(rules: rules, columns: $0) }
        let known = found.map(\.item.name).joined(separator: ", ")
        guard let name else {
            if found.count == 1 { return found[0] }
            throw RequestFailure(
                .unprocessable, localized("The request doesn't say which class grants the role."),
                hint: found.isEmpty
                    ? localized("No app's rules have grants: see docs/rules.md.") : "Send 'class': one of \(known).",
                source: .pointer("/class"))
        }
        guard let wanted = found.first(where: { $0.item.name == name }) else {
            let shown = name.shortened(toByteCount: 60)
            throw RequestFailure(
                .unprocessable, localized("There is no class '\(shown)' that grants roles."),
                hint: localized("Classes that grant roles: \(known)."), source: .pointer("/class"))
        }
        return wanted
    }

    // MARK: Values

    /// The class of the objects that roles are granted within, if the property is a link.
    var scopeClass: ClassSchema? {
        columns.scopeColumn.flatMap { item.columns[$0].linkTarget }.flatMap { schema[$0] }
    }

    /// How messages name a scope.
    private var scopeName: String { scopeClass?.name ?? localized("an object") }

    /// The key of a scope, parsed from text.
    /// - Throws: `RequestFailure` with status 422 if the text isn't such a key, or if grants of this class have no
    ///   scope.
    func scope(_ text: String?) throws -> Value? {
        guard let text else { return nil }
        guard let column = columns.scopeColumn else {
            throw RequestFailure(
                .unprocessable, localized("Roles that \(item.name) grants apply everywhere."),
                hint: localized("Leave 'scope' out."),
                source: .pointer("/scope"))
        }
        let value: Value? =
            switch schema.storedType(of: item.columns[column]) {
            case .objectId: (try? ObjectId(string: text)).map(Value.objectId)
            case .uuid: UUID(uuidString: text).map(Value.uuid)
            case .int: Int64(text).map(Value.int)
            case .string: text.utf8.count <= 1_000 && !text.utf8.contains(0) ? .string(text) : nil
            default: nil
            }
        guard let value else {
            throw RequestFailure(
                .unprocessable, localized("'scope' isn't the key of \(scopeName)."),
                hint:
                    "Send the id of the object that the role is for, or leave 'scope' out for a role that "
                    + "applies everywhere.",
                pageHint: localized("Choose what the role is for, or nothing for a role that applies everywhere."),
                source: .pointer("/scope"))
        }
        return value
    }

    /// The text of a scope, as in requests and in `tombolo.invitation`.
    static func text(_ scope: Value?) -> String? {
        switch scope {
        case .objectId(let id): id.stringValue
        case .uuid(let id): id.uuidString.lowercased()
        case .int(let number): "\(number)"
        case .string(let text): text
        default: nil
        }
    }

    func userID(_ row: Row) -> ObjectId? {
        switch row[columns.userColumn] {
        case .objectId(let id): id
        case .string(let text): try? ObjectId(string: text)
        default: nil
        }
    }

    private func value(_ user: ObjectId) -> Value {
        schema.storedType(of: item.columns[columns.userColumn]) == .string ? .string(user.stringValue) : .objectId(user)
    }

    /// Makes, but doesn't write, an object with a new key that gives the role.
    /// - Throws: `RequestFailure` with status 422 for a class whose keys the server can't generate.
    func grant(_ role: String, to user: ObjectId, in scope: Value?) throws -> Grant {
        let key: Value
        switch item.primaryKey?.type {
        case .objectId: key = .objectId(.generate())
        case .uuid: key = .uuid(UUID())
        case .string: key = .string(UUID().uuidString.lowercased())
        default:
            throw RequestFailure(
                .unprocessable, localized("The server can't generate keys for \(item.name)."),
                hint: localized("Grant the role in an app or through /api, where the caller chooses the key."))
        }
        var row = Row(item.columns.map { $0.isOptional ? .null : zero(of: $0) })
        if let index = item.primaryKeyIndex { row[index] = key }
        row[columns.userColumn] = value(user)
        row[columns.roleColumn] = .string(role)
        if let column = columns.scopeColumn { row[column] = scope ?? .null }
        return Grant(key: key, row: row)
    }

    /// The object with its user removed, to ask the rules about a role that nobody has.
    func vacant(_ row: Row) -> Row {
        var row = row
        row[columns.userColumn] = .null
        return row
    }

    private func zero(of column: Column) -> Value {
        if case .array = column.type { return .data(ArrayCoding.empty) }
        return schema.storedType(of: column).zero
    }

    // MARK: Roles

    /// Checks, as far as the rules say, that grants of this class may give a role in this scope.
    /// - Throws: `RequestFailure` with status 422 for an unlisted role, a role that needs a scope, or one that can't
    ///   have any.
    func check(_ role: String, in scope: Value?) throws {
        let shown = role.shortened(toByteCount: 60)
        guard !role.isEmpty, role.utf8.count <= 200, !role.utf8.contains(0) else {
            throw RequestFailure(
                .unprocessable, localized("'role' isn't the name of a role."), hint: "Send 1 to 200 bytes of text.",
                source: .pointer("/role"))
        }
        if let roles = columns.roles, !roles.contains(where: { $0.hasBytes(of: role) }) {
            let known = roles.joined(separator: ", ")
            let list = localized("Roles: \(known).")
            let nearest = role.nearest(in: roles).map { localized("Did you mean '\($0)'?") }
            throw RequestFailure(
                .unprocessable, localized("There is no role '\(shown)'."),
                hint: nearest.map { "\($0) \(list)" } ?? list, source: .pointer("/role"))
        }
        guard columns.scopeColumn != nil else { return }
        // A matrix lists the roles within an object. Without a matrix, the rules don't say which those are.
        let matrices = rules.matrices.values.filter { $0.roles.contains(role) || $0.everywhereRoles.contains(role) }
        guard !matrices.isEmpty else { return }
        let isWithin = matrices.contains { $0.roles.contains(role) }
        if isWithin, scope == nil {
            throw RequestFailure(
                .unprocessable, localized("The role '\(shown)' applies within \(scopeName)."),
                hint: "Send its id as 'scope'.", pageHint: localized("Choose which one."), source: .pointer("/scope"))
        }
        if !isWithin, scope != nil {
            throw RequestFailure(
                .unprocessable, localized("The role '\(shown)' applies everywhere."),
                hint: localized("Leave 'scope' out."),
                source: .pointer("/scope"))
        }
    }

    // MARK: SQL

    private func sqlName(_ column: Int) -> String { PostgresSQL.quoteIdentifier(item.columns[column].sqlName) }
    private var table: String { PostgresSQL.quoteIdentifier("public", item.table) }
    private func parameter(_ value: Value, _ column: Int) throws -> PostgresParameter {
        try PostgresParameter(value, as: schema.storedType(of: item.columns[column]))
    }

    /// Locks out other transactions that give the same role to the same user in the same scope, until this one ends.
    nonisolated(nonsending) func lock(
        _ role: String, of user: ObjectId, in scope: Value?, _ connection: PostgresConnection
    ) async throws {
        let text = "tombolo.grant \(item.name) \(user) \(role) \(Self.text(scope) ?? "")"
        try await connection.query("SELECT pg_advisory_xact_lock($1)", [.int64(Int64(bitPattern: text.stableHash))])
    }

    /// Reads and locks the grants of a role, either one user's or everybody's.
    nonisolated(nonsending) func grants(
        of role: String, to user: ObjectId? = nil, in scope: Value?, _ connection: PostgresConnection
    ) async throws -> [Grant] {
        var conditions = ["o.\(sqlName(columns.roleColumn)) = $1"]
        var parameters: [PostgresParameter] = [.text(role)]
        if let user {
            parameters.append(try parameter(value(user), columns.userColumn))
            conditions.append("o.\(sqlName(columns.userColumn)) = $\(parameters.count)")
        }
        if let column = columns.scopeColumn {
            if let scope {
                parameters.append(try parameter(scope, column))
                conditions.append("o.\(sqlName(column)) = $\(parameters.count)")
            } else {
                conditions.append("o.\(sqlName(column)) IS NULL")
            }
        }
        let result = try await connection.query(
            """
            SELECT \(RowReader.columns(of: item, alias: "o")) FROM \(table) AS o
            WHERE \(conditions.joined(separator: " AND ")) AND \(RowReader.isIn(trash: false, item, alias: "o"))
            ORDER BY o.\(sqlName(item.primaryKeyIndex ?? 0)) LIMIT 100 FOR UPDATE
            """, parameters)
        let reader = RowReader(schema: schema, connection: connection)
        return try result.map { found in
            let row = try reader.row(found, of: item)
            return Grant(key: row[item.primaryKeyIndex ?? 0], row: row)
        }
    }

    /// Locks a user's grants so that they stay as they are until the transaction ends.
    nonisolated(nonsending) func lockGrants(of user: ObjectId, _ connection: PostgresConnection) async throws {
        try await connection.query(
            "SELECT 1 FROM \(table) WHERE \(sqlName(columns.userColumn)) = $1 FOR SHARE",
            [try parameter(value(user), columns.userColumn)])
    }

    nonisolated(nonsending) func insert(_ grant: Grant, _ connection: PostgresConnection) async throws {
        let indexes = item.columns.indices.filter { !item.columns[$0].isRetired }
        let parameters = try indexes.map { try parameter(grant.row[$0], $0) }
        let places = (1...parameters.count).map { "$\($0)" }.joined(separator: ", ")
        try await connection.query(
            "INSERT INTO \(table) (\(indexes.map(sqlName).joined(separator: ", "))) VALUES (\(places))", parameters)
    }

    /// Gives a grant to another user.
    nonisolated(nonsending) func move(
        _ grant: Grant, to user: ObjectId, _ connection: PostgresConnection
    ) async throws {
        let key = item.primaryKeyIndex ?? 0
        try await connection.query(
            "UPDATE \(table) SET \(sqlName(columns.userColumn)) = $2 WHERE \(sqlName(key)) = $1",
            [try parameter(grant.key, key), try parameter(value(user), columns.userColumn)])
    }

    /// Locks the object that a role is to be given within, so that it can't go into the trash meanwhile.
    /// - Throws: `RequestFailure` with status 409 if it no longer exists, or is in the trash.
    nonisolated(nonsending) func lockScope(_ scope: Value?, _ connection: PostgresConnection) async throws {
        guard let scope, let target = scopeClass, let key = target.primaryKey else { return }
        let trashed = target.isTrashable ? "\(PostgresSQL.quoteIdentifier(TrashColumns.when)) IS NOT NULL" : "false"
        let found = try await connection.query(
            """
            SELECT \(trashed) FROM \(PostgresSQL.quoteIdentifier("public", target.table))
            WHERE \(PostgresSQL.quoteIdentifier(key.sqlName)) = $1 FOR SHARE
            """, [try PostgresParameter(scope, as: schema.storedType(of: key))])
        guard let row = found.first else {
            throw RequestFailure(
                .conflict, localized("The \(target.name) that the role is for doesn't exist."),
                hint: localized("It may have been deleted."))
        }
        guard try !row[0].bool else {
            throw RequestFailure(
                .conflict, localized("The \(target.name) that the role is for is in the trash."),
                hint: localized("Try again when somebody has restored it."))
        }
    }
}
