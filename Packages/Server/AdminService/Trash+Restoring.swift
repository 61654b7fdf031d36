import Foundation
import PostgresClient
import PostgresValues
package import TomboloHTTP
import TomboloModel
import TomboloPostgresStore
package import TomboloRules
import TomboloSQL
import TomboloJSONAPI

extension TomboloRules.Operation {
    /// Permits giving an object new values of its unique properties while restoring it, even if the rules' `fields`
    /// protect them from being written.
    static let restoreWithValues = TomboloRules.Operation("restoreWithValues")
}

extension Trash {
    /// A subject who restores objects, and the rules that decide.
    package struct Restorer: Sendable {
        private static let operations: [TomboloRules.Operation] = [
            .create, .delete, .listTrash, .purge, .read, .restore, .restoreWithValues, .trash, .update,
        ]

        let subject: Subject
        let rules: Rules

        package init(subject: Subject, rules: Rules) {
            self.subject = subject
            self.rules = rules
        }

        /// - Parameter row: the row before and after the operation.
        func may(_ operation: TomboloRules.Operation, _ className: String, _ row: Row, becoming new: Row? = nil) -> Bool
        {
            guard let index = rules.schema.index(of: className) else { return false }
            return rules.authorize(subject, operation, .object(classIndex: index, old: row, new: new ?? row)).isAllowed
        }

        /// The properties of a class on which the answers of ``may(_:_:_:becoming:)`` depend.
        var deciding: Deciding {
            { [self] className in
                guard let index = rules.schema.index(of: className) else { return [] }
                return Self.operations.flatMap { operation -> [PropertyPath] in
                    guard case .allowed(let filter) = rules.authorize(subject, operation, .objects(classIndex: index))
                    else { return [] }
                    return filter.paths
                }
            }
        }
    }

    /// Takes objects out of the trash, all or none.
    /// - Parameters:
    ///   - address: the id of a group, for all that is in it, or the id of one object, for it alone.
    ///   - wishes: how to resolve clashes.
    /// - Returns: what was restored.
    /// - Throws: `RequestFailure`: 404 if there is nothing in the trash, 403 if the caller may not restore all of it
    ///   or not in this way, 422 for values that a write couldn't have, 409 naming the live objects with the same
    ///   unique values and the possible choices, or the object that has to be restored first.
    package func restore(
        _ address: TrashAddress, _ wishes: RestoreWishes, by restorer: Restorer
    ) async throws -> [Member] {
        try await pool.transaction { try await restore(address, wishes, by: restorer, on: $0) }
    }

    /// The clashes for which ``restore(_:_:by:)`` would currently refuse to restore everything at an address; nil if
    /// there are none. Changes nothing.
    package func clashes(at address: TrashAddress, by restorer: Restorer) async throws -> RequestFailure? {
        struct Trial: Error {}
        do {
            try await pool.transaction { connection in
                _ = try await restore(address, RestoreWishes(), by: restorer, on: connection)
                throw Trial()
            }
            return nil
        } catch is Trial {
            return nil
        } catch let failure as RequestFailure where failure.code == .conflict {
            return failure
        }
    }

    /// The same within the caller's transaction, which must be rolled back if this throws.
    nonisolated(nonsending) func restore(
        _ address: TrashAddress, _ wishes: RestoreWishes, by restorer: Restorer, on connection: PostgresConnection
    ) async throws -> [Member] {
        do {
            var members = try await members(of: address, deciding: restorer.deciding, connection)
            guard !members.isEmpty else { throw Self.nothing }
            guard members.allSatisfy({ restorer.may(.restore, $0.className, $0.row) }) else {
                throw RequestFailure(.forbidden, Wording("Not permitted to restore all the objects."))
            }
            if let other = wishes.ids.subtracting(members.map(\.address)).map(\.text).min() {
                throw RequestFailure(
                    .unprocessable, Wording("\(other) isn't one of the objects to restore."),
                    hint: Wording(untranslated: "Name objects of the group; GET /admin/trash lists them."))
            }
            members.removeAll { wishes.leave.contains($0.address) }
            guard !members.isEmpty else {
                throw RequestFailure(
                    .unprocessable, Wording("Nothing is left to restore: all the objects would stay in the trash."))
            }
            for index in members.indices {
                guard let values = wishes.values[members[index].address] else { continue }
                try await set(values, of: &members[index], restorer, connection)
            }
            try await checkOwners(of: members, connection)
            try await settleClashes(of: members, wishes, restorer, connection)
            for (name, keys) in Dictionary(grouping: members, by: \.className) {
                try await connection.query(
                    "SELECT tombolo.restore($1, k) FROM unnest($2::text[]) AS k",
                    [.text(name), .textArray(keys.map(\.key.keyText))])
            }
            return members
        } catch let error as PostgresError where error.code == .uniqueViolation {
            // Two objects of the group have the same values, or a live one was created a moment ago.
            throw RequestFailure(error)
        } catch let error as PostgresError where error.constraintName == TrashLimits.constraint {
            throw Self.takesTooMuch(schema.classes.first { $0.table == error.tableName }?.name ?? "object", error)
        }
    }

    // MARK: Values

    nonisolated(nonsending) private func set(
        _ values: [String: JSON], of member: inout Member, _ restorer: Restorer, _ connection: PostgresConnection
    ) async throws {
        guard let item = schema[member.className] else { return }
        let unique = Set(item.uniqueColumns.joined())
        var new = member.row
        for (name, json) in values {
            guard let index = item.columnIndex(name), unique.contains(index) else {
                let known = unique.sorted().map { item.columns[$0].name }.joined(separator: ", ")
                throw RequestFailure(
                    .unprocessable, Wording("A restore can only change unique properties of \(item.name)."),
                    hint: known.isEmpty ? Wording("\(item.name) has none.") : Wording("Choose one of \(known)."))
            }
            let column = item.columns[index]
            guard let value = json.value(of: schema.storedType(of: column)) else {
                throw RequestFailure(
                    .unprocessable,
                    Wording("The new \(name) of \(member.key.keyText) doesn't fit the property's type."),
                    properties: [name])
            }
            do throws(ValueError) {
                try column.validate(value, linkKeyType: schema.keyType(ofLink: column))
            } catch {
                throw RequestFailure(
                    .unprocessable,
                    Wording("The new \(name) of \(member.key.keyText) is refused: \(error.wording)"),
                    properties: [name])
            }
            new[index] = value
        }
        guard
            restorer.may(.update, item.name, member.row, becoming: new)
                || restorer.may(.restoreWithValues, item.name, member.row)
                    && restorer.may(.restoreWithValues, item.name, new)
        else {
            throw RequestFailure(
                .forbidden, Wording("Not permitted to give \(item.name) \(member.key.keyText) these values."))
        }
        for name in values.keys.sorted() {
            guard let index = item.columnIndex(name) else { continue }
            let text = try await connection.query(
                "SELECT $1::\(Self.castType(item.columns[index], schema))::text",
                [try PostgresParameter(new[index], as: schema.storedType(of: item.columns[index]))])
            try await connection.query(
                "SELECT tombolo.set_trashed($1, $2, $3, $4)",
                [
                    .text(item.name), .text(member.key.keyText), .text(item.columns[index].sqlName),
                    .text(try text[0, 0].nonNull?.string),
                ])
        }
        member.row = new
    }

    private static func castType(_ column: Column, _ schema: Schema) -> String {
        SQLDialect.postgresql.castType(of: schema.storedType(of: column))
    }

    // MARK: Clashes

    /// Moves the live objects that the caller wants to swap into the trash, and throws for the remaining clashes.
    nonisolated(nonsending) private func settleClashes(
        of members: [Member], _ wishes: RestoreWishes, _ restorer: Restorer, _ connection: PostgresConnection
    ) async throws {
        var open: [TrashClash] = []
        let isAlone = members.count == 1 && wishes.leave.isEmpty
        for (name, members) in Dictionary(grouping: members, by: \.className).sorted(by: { $0.key < $1.key }) {
            guard let item = schema[name], let key = item.primaryKeyIndex else { continue }
            for columns in item.uniqueColumns where !columns.contains(where: { item.columns[$0].isRetired }) {
                for (member, row) in try await live(like: members, item, columns, restorer, connection) {
                    let live = row[key]
                    let maySwap = restorer.may(.trash, name, row)
                    if wishes.swap.contains(member.address) {
                        guard maySwap else {
                            throw RequestFailure(
                                .forbidden, Wording("Not permitted to move the live \(name) into the trash instead."))
                        }
                        try await move(name, live, UUID(), by: restorer.subject.userID, connection)
                        continue
                    }
                    var choices: [TrashClash.Choice] = []
                    if restorer.may(.restoreWithValues, name, member.row)
                        || restorer.may(.update, name, member.row, becoming: changed(member.row, columns, item))
                    {
                        choices.append(.values)
                    }
                    if !isAlone { choices.append(.leave) }
                    if maySwap { choices.append(.swap) }
                    open.append(
                        TrashClash(
                            className: name, key: member.key, properties: columns.map { item.columns[$0].name },
                            live: restorer.may(.read, name, row) ? live : nil, choices: choices))
                }
            }
        }
        guard open.isEmpty else { throw TrashClash.failure(open) }
    }

    /// The row with other values in some columns, to ask the rules whether these may be changed.
    private func changed(_ row: Row, _ columns: [Int], _ item: ClassSchema) -> Row {
        var row = row
        for column in columns {
            // Links keep their values: asking the rules about a link to a made-up object would make no sense.
            guard item.columns[column].linkTarget == nil else { continue }
            row[column] = row[column].other
        }
        return row
    }

    /// The live objects that have the same values in some columns, with the member that each clashes with.
    nonisolated(nonsending) private func live(
        like members: [Member], _ item: ClassSchema, _ columns: [Int], _ restorer: Restorer,
        _ connection: PostgresConnection
    ) async throws -> [(Member, Row)] {
        let key = Self.key(item)
        let table = PostgresSQL.quoteIdentifier(item.table)
        let equal = columns.map { column in
            let name = PostgresSQL.quoteIdentifier(item.columns[column].sqlName)
            return "t.\(name) = o.\(name)"
        }.joined(separator: " AND ")
        let selected = self.columns(of: item, deciding: restorer.deciding(item.name), alias: "o")
        let found = try await connection.query(
            """
            SELECT \(selected), \(Self.keyText(item, alias: "t")) FROM \(table) t JOIN \(table) "o" ON \(equal)
            WHERE t.\(key) = ANY ($1) AND o.\(key) <> t.\(key) AND o.trashed_at IS NULL ORDER BY t.\(key)
            """, [try Self.list(members.map(\.key), item)])
        let byKey = Dictionary(members.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        return try found.compactMap { source in
            let key = Self.key(try source[item.columns.count].string, item)
            guard let member = key.flatMap({ byKey[$0] }) else { return nil }
            return (member, try reader.row(source, of: item))
        }
    }

    // MARK: What they belong to

    /// Refuses to restore an object without the object that it belongs to.
    nonisolated(nonsending) private func checkOwners(
        of members: [Member], _ connection: PostgresConnection
    ) async throws {
        let restored = Set(members.map(\.address))
        let independent = try await independentLinks(connection)
        for item in classes {
            for (index, column) in item.columns.enumerated() {
                guard let target = column.linkTarget.flatMap({ schema[$0] }), target.isTrashable,
                    !independent.contains("\(item.name).\(column.name)")
                else { continue }
                let keys = members.compactMap { member -> Value? in
                    guard member.className == item.name, !member.row[index].isNull,
                        !restored.contains(TrashAddress(target.name, member.row[index]))
                    else { return nil }
                    return member.row[index]
                }
                guard !keys.isEmpty else { continue }
                let wanted = try Self.list(keys, target)
                let (table, key) = (PostgresSQL.quoteIdentifier(target.table), Self.key(target))
                let found = try await connection.query(
                    """
                    SELECT \(Self.keyText(target)) FROM \(table) o
                    WHERE o.\(key) = ANY ($1) AND o.trashed_at IS NOT NULL ORDER BY o.\(key) LIMIT 1
                    """, [wanted])
                guard let row = found.first else { continue }
                let parent = try row[0].string
                var failure = RequestFailure(
                    .conflict, Wording("The \(target.name) that this \(item.name) belongs to is in the trash too."),
                    hint: Wording("Restore the \(target.name) \(parent) first."), properties: [column.name])
                failure.details = [
                    "parent": [
                        "class": .string(target.name), "_id": .string(parent),
                        "address": .string(
                            Self.key(parent, target).map { TrashAddress(target.name, $0).text } ?? parent),
                    ]
                ]
                throw failure
            }
        }
    }

    /// The links, as `Class.property`, that don't take the object along into the trash, so their targets may be in
    /// the trash.
    nonisolated(nonsending) private func independentLinks(_ connection: PostgresConnection) async throws -> Set<String>
    {
        let found = try await connection.query(
            """
            SELECT c.name || '.' || k.name FROM tombolo.class_column k JOIN tombolo.class c ON c.id = k.class
            WHERE NOT k.goes_along
            """)
        return Set(try found.map { try $0[0].string })
    }
}

extension TomboloModel.Value {
    /// A different value of the same type.
    fileprivate var other: TomboloModel.Value {
        switch self {
        case .null: .null
        case .bool(let flag): .bool(!flag)
        case .int(let number): .int(number &+ 1)
        case .double(let number): .double(number + 1)
        case .string(let text): .string(text + "x")
        case .data(let data): .data(data + [0])
        case .date(let microseconds): .date(microseconds &+ 1)
        case .objectId: .objectId(.generate())
        case .uuid: .uuid(UUID())
        case .decimal(let number): .decimal(number == 0 ? 1 : 0)
        }
    }
}

extension JSON {
    /// The value of a stored type that this JSON represents, the inverse of ``init(_:)-(Value)``; nil for other JSON.
    func value(of type: PropertyType) -> TomboloModel.Value? {
        switch (self, type) {
        case (.null, _): .null
        case (.bool(let flag), .bool): .bool(flag)
        case (.int(let number), .int): .int(number)
        case (.int(let number), .double): .double(Double(number))
        case (.double(let number), .double): .double(number)
        case (.string(let text), .string), (.string(let text), .objectId), (.string(let text), .uuid),
            (.string(let text), .data), (.string(let text), .date), (.string(let text), .decimal128):
            ValueText.value(text, type)
        default: nil
        }
    }
}
