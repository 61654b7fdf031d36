package import PostgresClient
import PostgresValues
package import TomboloHTTP
package import TomboloJSONAPI
import TomboloModel
import TomboloPostgresStore
import TomboloRules
import TomboloLocalization

/// Restores an object's earlier values from the audit log. It uses the caller's own rights and the same code as every
/// other write, so the restoration is logged too. Lists and secret properties stay as they are.
package struct AuditPutBack: Sendable {
    /// What the caller wants to restore.
    package enum Wish: Sendable {
        /// The values from before an entry: of these properties only, or of all that the entry changed. For a
        /// deletion, the object.
        case undo(entry: Int64, properties: Set<String>?)
        /// The object as it was after an entry.
        case version(entry: Int64)
        /// Property values, such as those that an earlier response had in `was`.
        case values([String: JSON])

        private static let hint =
            #"Send {"entry": "17"} to undo an entry, {"entry": "17", "properties": ["title"]} to undo part of it, "#
            + #"{"entry": "17", "version": true} for the object as it was after the entry, or {"values": "#
            + #"{"title": …}}."#

        /// - Throws: ``RequestFailure`` with status 400 for a body of any other form.
        package init(_ body: JSON) throws {
            func failure() -> RequestFailure {
                RequestFailure(.badRequest, localized("The body doesn't say what to put back."), hint: Self.hint)
            }
            guard case .object(let members) = body else { throw failure() }
            if case .object(let values)? = members["values"], members.count == 1 {
                self = .values(values)
                return
            }
            guard case .string(let text)? = members["entry"], let entry = Int64(text), entry > 0 else {
                throw failure()
            }
            switch (members.count, members["properties"], members["version"]) {
            case (1, nil, nil): self = .undo(entry: entry, properties: nil)
            case (2, nil, .bool(true)?): self = .version(entry: entry)
            case (2, .array(let names)?, nil):
                self = .undo(
                    entry: entry,
                    properties: Set(
                        try names.map {
                            guard case .string(let name) = $0 else { throw failure() }
                            return name
                        }))
            default: throw failure()
            }
        }
    }

    /// What was restored.
    package struct Result: Sendable {
        package let className: String
        package let key: String
        /// The properties that changed, with their values from before the restoration; empty if nothing had to
        /// change.
        package let was: [String: JSON]
        /// Whether the object had been deleted and was created again.
        package let isMade: Bool

        var json: JSON {
            ["class": .string(className), "object": .string(key), "was": .object(was), "isMade": .bool(isMade)]
        }
    }

    private let grant: ClassesGrant
    private let types: ResourceTypes
    private let className: String
    private let key: String

    /// - Parameters:
    ///   - grant: the caller's grant for the operation `audit`.
    ///   - types: the types of the grant's schema.
    ///   - key: the object's id as text.
    package init(grant: ClassesGrant, types: ResourceTypes, className: String, key: String) {
        self.grant = grant
        self.types = types
        self.className = className
        self.key = key
    }

    /// Changes the object within the caller's transaction.
    /// - Throws: ``RequestFailure``: 404 for an entry that the caller can't see, 409 for an object in the trash, 422
    ///   for an entry with nothing to restore, and whatever any other change by the caller would be refused with.
    package nonisolated(nonsending) func run(
        _ wish: Wish, _ connection: PostgresConnection
    ) async throws -> Result {
        let schema = grant.rules.schema
        let view = try await AuditView.read(grant, connection)
        guard let index = schema.index(of: className), let type = types[index],
            let found = view.classes.first(where: { $0.index == index })
        else { throw AuditView.refusal(className) }
        guard let id = type.keyValue(key) else {
            throw RequestFailure(.notFound, localized("There is no object with this id."))
        }
        let (values, mayMake) = try await values(wish, view, found, connection)
        let caller = CallerView(subject: grant.subject, rules: grant.rules, types: types)
        let writer = ResourceWriter(view: caller) { _, _, _, _, _, _ in }
        let current = try await current(found, id, connection)
        var change = ResourceChange(type, caller)
        let pointer = RequestPointer("/values")
        for (column, value) in values.sorted(by: { $0.key < $1.key })
        where column != type.keyIndex && !found.item.columns[column].isRetired {
            if let current, current.values[column] == value { continue }
            change.put(value, in: column, at: pointer / found.item.columns[column].name)
        }
        try change.check()
        guard let current else {
            guard mayMake else {
                throw RequestFailure(
                    .notFound, localized("The object was deleted."),
                    hint: localized("Put back the entry that deleted it, or a version."))
            }
            _ = try await writer.create(change, key: id, at: pointer, connection)
            return Result(className: className, key: key, was: [:], isMade: true)
        }
        guard !current.isTrashed else {
            throw RequestFailure(
                .conflict, localized("The object is in the trash."), hint: localized("Restore it from the trash first.")
            )
        }
        var was: [String: JSON] = [:]
        for column in change.values.keys { was[found.item.columns[column].name] = JSON(current.values[column]) }
        if !was.isEmpty { _ = try await writer.update(change, key: id, at: pointer, connection) }
        return Result(className: className, key: key, was: was, isMade: false)
    }

    /// The values to write, by column, and whether to create the object if it doesn't exist.
    private nonisolated(nonsending) func values(
        _ wish: Wish, _ view: AuditView, _ found: AuditView.Class, _ connection: PostgresConnection
    ) async throws -> ([Int: Value], mayMake: Bool) {
        func entry(_ id: Int64) async throws -> AuditEntry {
            let filter = AuditFilter(className: className, key: key, id: id)
            guard let entry = try await AuditQuery.entry(view, filter, of: found, connection) else {
                throw RequestFailure(
                    .notFound, localized("The object's history has no such entry."),
                    hint: "GET the history: each entry has an 'id'.",
                    pageHint: localized("Start from the object's history."))
            }
            return entry
        }
        switch wish {
        case .undo(let id, let properties):
            let entry = try await entry(id)
            var values = entry.before
            if let properties {
                values = values.filter { properties.contains(found.item.columns[$0.key].name) }
                guard values.count == properties.count else {
                    let changed = entry.before.keys.map { found.item.columns[$0].name }.sorted().joined(separator: ", ")
                    throw RequestFailure(
                        .unprocessable, localized("The entry didn't change all of these properties."),
                        hint: localized("It changed \(changed)."))
                }
            }
            guard !values.isEmpty else {
                throw RequestFailure(
                    .unprocessable, localized("The entry has nothing to put back."),
                    hint: localized("Use the trash's own routes to move objects into the trash and out of it."))
            }
            return (values, entry.operation == "e" && properties == nil)
        case .version(let id):
            return (try await version(entry(id), found, connection), true)
        case .values(let wanted):
            var values: [Int: Value] = [:]
            for (name, json) in wanted {
                guard let column = found.item.columnIndex(name), found.columns.values.contains(column),
                    let value = Self.value(json, view.schema.storedType(of: found.item.columns[column]))
                else {
                    throw RequestFailure(
                        .unprocessable,
                        localized("'values' has an unknown property, or a value that doesn't fit its property."),
                        properties: found.item.columnIndex(name) == nil ? [] : [name])
                }
                values[column] = value
            }
            return (values, false)
        }
    }

    private static func value(_ json: JSON, _ type: PropertyType) -> Value? {
        if let value = json.value(of: type) { return value }
        if case .string(let text) = json { return ValueText.value(text, type) }
        return nil
    }

    /// The object as it was after an entry: for each property, the newest value up to that entry.
    private nonisolated(nonsending) func version(
        _ entry: AuditEntry, _ found: AuditView.Class, _ connection: PostgresConnection
    ) async throws -> [Int: Value] {
        guard entry.operation != "e" else { return entry.before }
        let rows = try await connection.query(
            """
            SELECT DISTINCT ON (p.key) p.key, p.value FROM tombolo.audit_entry e \
            CROSS JOIN LATERAL jsonb_each_text(e.after) AS p \
            WHERE e.class = $1 AND e.key = $2 AND (e.at, e.id) <= ($3, $4) AND p.key = ANY ($5) \
            ORDER BY p.key, e.at DESC, e.id DESC
            """,
            [
                .int64(Int64(found.number)), .text(key), .timestamptz(microseconds: entry.at), .int64(entry.id),
                .textArray(Array(found.columns.keys)),
            ])
        var texts: [String: String?] = [:]
        for row in rows { texts.updateValue(try row[1].nonNull?.string, forKey: try row[0].string) }
        return AuditPage.values(texts, found, grant.rules.schema)
    }

    /// The object's row, locked.
    private nonisolated(nonsending) func current(
        _ found: AuditView.Class, _ id: Value, _ connection: PostgresConnection
    ) async throws -> (values: [Value], isTrashed: Bool)? {
        let (item, schema) = (found.item, grant.rules.schema)
        guard let keyIndex = item.primaryKeyIndex else { return nil }
        let columns = item.columns.map { PostgresSQL.quoteIdentifier($0.sqlName) }
        let rows = try await connection.query(
            """
            SELECT \(columns.joined(separator: ", ")), \(item.isTrashable ? "trashed_at IS NOT NULL" : "false") \
            FROM \(PostgresSQL.quoteIdentifier(item.table)) WHERE \(columns[keyIndex]) = $1 FOR UPDATE
            """, [try PostgresParameter(id, as: schema.storedType(of: item.columns[keyIndex]))])
        guard let row = rows.first else { return nil }
        let values = try item.columns.enumerated().map { index, column in
            try row[index].value(of: schema.storedType(of: column))
        }
        return (values, try row[columns.count].bool)
    }
}
