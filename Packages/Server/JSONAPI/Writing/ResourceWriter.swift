import Foundation
package import PostgresClient
import PostgresValues
import TomboloHTTP
package import TomboloModel
import TomboloRules
import TomboloSQL

/// Creates, changes and removes single resources in the caller's transaction, as the rules permit.
package struct ResourceWriter: Sendable {
    package let view: CallerView
    package let moveToTrash: JSONAPIRoutes.TrashMove
    private var reader: ResourceReader { ResourceReader(view: view) }

    package init(view: CallerView, moveToTrash: @escaping JSONAPIRoutes.TrashMove) {
        self.view = view
        self.moveToTrash = moveToTrash
    }

    /// A resource that is about to be changed, locked.
    private struct Current {
        let row: Row
        let resource: ResourceReader.Resource
    }

    // MARK: Making

    /// - Parameters:
    ///   - key: the key of the new resource.
    ///   - pointer: where the resource object is in the body.
    /// - Returns: the resource as it is now; nil if the caller can't see it.
    package nonisolated(nonsending) func create(
        _ change: ResourceChange, key: Value, at pointer: RequestPointer, _ connection: PostgresConnection
    ) async throws -> ResourceReader.Resource? {
        let (type, item) = (change.type, change.type.item)
        // Callers who may not write here mustn't learn whether a target exists.
        let row = try newRow(change, key: key, at: pointer)
        let unseen = try await checkLinks(change.links, connection)
        var names: [String] = []
        var parameters: [PostgresParameter] = []
        for (index, column) in item.columns.enumerated() where !column.isRetired {
            names.append(PostgresSQL.quoteIdentifier(column.sqlName))
            parameters.append(try PostgresParameter(row[index], as: view.schema.storedType(of: column)))
        }
        let places = (1...parameters.count).map { "$\($0)" }.joined(separator: ", ")
        try await explained(change, unseen, at: pointer) {
            try await connection.pipeline([
                Self.writer(view.subject.userID),
                PostgresStatement(
                    "INSERT INTO \(PostgresSQL.quoteIdentifier(item.table)) (\(names.joined(separator: ", "))) "
                        + "VALUES (\(places))", parameters),
            ])
            try await writeLists(change, of: key, connection)
        }
        return try await current(type, key, connection)
    }

    /// Tells an app's triggers who creates an object, until the transaction ends: the function `tombolo.writer`.
    private static func writer(_ user: ObjectId?) -> PostgresStatement {
        PostgresStatement("SELECT set_config('tombolo.writer', $1, true)", [.text(user?.stringValue ?? "")])
    }

    /// The row of a new resource, as far as it can be checked without the database.
    /// - Throws: ``RequestFailure`` for missing values, and for anything that the rules don't permit.
    func newRow(_ change: ResourceChange, key: Value, at pointer: RequestPointer) throws -> Row {
        let (type, item) = (change.type, change.type.item)
        var row = Row(item.columns.map { $0.isOptional ? .null : zero(of: $0) })
        for (column, value) in change.values { row[column] = value }
        row[type.keyIndex] = key
        try checkMissing(change, at: pointer)
        try authorize(.create, type, old: nil, new: row, change, at: pointer)
        return row
    }

    private func zero(of column: Column) -> Value {
        if case .array = column.type { return .data(ArrayCoding.empty) }
        return view.schema.storedType(of: column).zero
    }

    /// Checks for required strings, dates and links. Numbers default to 0, and Booleans to false.
    private func checkMissing(_ change: ResourceChange, at pointer: RequestPointer) throws {
        let fixed = view.fixedColumns(of: change.type)
        var problems: [RequestFailure] = []
        for field in change.type.fields where field.isRequiredOnCreation {
            guard let column = field.column, change.values[column] == nil, !fixed.contains(column) else { continue }
            let place = pointer / (field.isRelationship ? "relationships" : "attributes")
            problems.append(
                RequestFailure(
                    .unprocessable, Wording("'\(field.name)' is required."), hint: Wording("Give it a value."),
                    properties: [field.name], source: .pointer((place / field.name).description)))
        }
        guard var first = problems.first else { return }
        first.others = Array(problems.dropFirst())
        throw first
    }

    // MARK: Changing

    /// - Parameter version: the caller's `If-Match`.
    /// - Returns: the resource as it is now; nil if the caller can't see it any more.
    package nonisolated(nonsending) func update(
        _ change: ResourceChange, key: Value, ifMatch version: String? = nil, at pointer: RequestPointer,
        _ connection: PostgresConnection
    ) async throws -> ResourceReader.Resource? {
        let (type, item) = (change.type, change.type.item)
        let found = try await locked(type, key, ifMatch: version, connection)
        let change = try leavingUnshown(change, found.resource)
        var row = found.row
        for (column, value) in change.values { row[column] = value }
        let new = row
        let hidden = HiddenLinks(item: item, schema: view.schema)
        for column in try await hidden.kept(old: { found.row[$0] }, new: { new[$0] }, connection) {
            row[column] = found.row[column]
        }
        try authorize(.update, type, old: found.row, new: row, change, at: pointer)
        let unseen = try await checkLinks(change.links, connection)
        let changed = change.values.keys.sorted().filter { found.row[$0] != row[$0] }
        try await explained(change, unseen, at: pointer) {
            if !changed.isEmpty {
                // A database constraint may involve the new values and the lists together.
                try await removeFromLists(change, of: key, connection)
                var parameters = [try PostgresParameter(key, as: type.keyType)]
                var assignments: [String] = []
                for index in changed {
                    let column = item.columns[index]
                    parameters.append(try PostgresParameter(row[index], as: view.schema.storedType(of: column)))
                    assignments.append("\(PostgresSQL.quoteIdentifier(column.sqlName)) = $\(parameters.count)")
                }
                try await connection.query(
                    "UPDATE \(PostgresSQL.quoteIdentifier(item.table)) SET \(assignments.joined(separator: ", ")) "
                        + "WHERE \(PostgresSQL.quoteIdentifier(type.key.sqlName)) = $1", parameters)
            }
            try await writeLists(change, of: key, connection)
        }
        return try await current(type, key, connection)
    }

    // MARK: Removing

    /// Moves the resource to the trash if its class has one, and deletes it otherwise.
    /// - Parameter reason: stored in the trash.
    package nonisolated(nonsending) func remove(
        _ type: ResourceType, key: Value, ifMatch version: String? = nil, because reason: TrashReason? = nil,
        _ connection: PostgresConnection
    ) async throws {
        let found = try await locked(type, key, ifMatch: version, connection)
        let operation = JSONAPIRoutes.removal(of: type.item)
        let resource = TomboloRules.Resource.object(classIndex: type.classIndex, old: found.row, new: found.row)
        if case .denied(let denial) = view.rules.authorize(view.subject, operation, resource) {
            throw RequestFailure(denial)
        }
        guard !type.item.isTrashable else {
            return try await moveToTrash(
                connection, view.schema, type.item.name, key, view.subject.userID, reason)
        }
        do {
            try await connection.query(
                "DELETE FROM \(PostgresSQL.quoteIdentifier(type.item.table)) "
                    + "WHERE \(PostgresSQL.quoteIdentifier(type.key.sqlName)) = $1",
                [try PostgresParameter(key, as: type.keyType)])
        } catch let error as PostgresError where error.code == .foreignKeyViolation {
            throw RequestFailure(
                .conflict, Wording("Something else still needs this resource."),
                hint: Wording("First remove what links to it."), cause: error)
        }
    }

    // MARK: Steps

    /// - Throws: ``RequestFailure``: 404 if the caller can see no such resource, 412 if it has another version.
    nonisolated(nonsending) private func locked(
        _ type: ResourceType, _ key: Value, ifMatch version: String?, _ connection: PostgresConnection
    ) async throws -> Current {
        let plan = ResourcePlan(type, for: view)
        let columns = type.item.columns.map { PostgresSQL.quoteIdentifier(ResourcePlan.alias, $0.sqlName) }
        // A caller who had to wait for a row's lock would learn that the row exists.
        let statement = try reader.statement(
            plan, matching: reader.isKey(key, of: type), extra: columns, limit: 1,
            locking: "FOR UPDATE OF \"\(ResourcePlan.alias)\"")
        let found = try await connection.query(statement.sql, statement.parameters).first.map { source in
            let values = try type.item.columns.enumerated().map { index, column in
                try source[plan.columns.count + index].value(of: view.schema.storedType(of: column))
            }
            return Current(row: Row(values), resource: ResourceReader.Resource(plan: plan, row: source))
        }
        guard let found,
            view.rules.authorize(
                view.subject, .read, .object(classIndex: type.classIndex, old: found.row, new: found.row)
            ).isAllowed
        else { throw JSONAPIRoutes.noSuchResource(type) }
        if let version {
            var json = JSONBytes()
            let now = try plan.append(found.resource.row, to: &json) ?? ""
            guard ResourceVersion.matches(version, now) else {
                throw RequestFailure(
                    .preconditionFailed, "The resource has changed since the version that If-Match names.",
                    hint: "GET it again before you go on. Its version is \"\(now)\".", source: .header("If-Match"))
            }
        }
        return found
    }

    private func leavingUnshown(
        _ change: ResourceChange, _ resource: ResourceReader.Resource
    ) throws -> ResourceChange {
        guard !change.contents.unnamedLists.isEmpty else { return change }
        return change.leavingUnshown(try ResourceMembers(resource, named: Set(change.fields.map(\.name))))
    }

    nonisolated(nonsending) private func writeLists(
        _ change: ResourceChange, of key: Value, _ connection: PostgresConnection
    ) async throws {
        let type = change.type
        for (elements, contents) in change.contents.lists {
            try await ResourceList(elements, of: type, view.schema).write(contents, owner: key, connection)
        }
        for (elements, objects) in change.contents.objects {
            try await ResourceObjects(elements, of: type, view.schema).write(objects, owner: key, connection)
        }
        for (elements, edit) in change.listEdits {
            let list = ResourceList(elements, of: type, view.schema)
            switch edit {
            case .add(let links): try await list.add(links, owner: key, connection)
            case .remove(let links): try await list.remove(links, owner: key, connection)
            }
        }
    }

    /// Removes the links that lists are to lose.
    nonisolated(nonsending) private func removeFromLists(
        _ change: ResourceChange, of key: Value, _ connection: PostgresConnection
    ) async throws {
        for (elements, contents) in change.contents.lists {
            try await ResourceList(elements, of: change.type, view.schema)
                .keep(contents, owner: key, connection)
        }
    }

    /// The resource as the caller sees it now.
    nonisolated(nonsending) private func current(
        _ type: ResourceType, _ key: Value, _ connection: PostgresConnection
    ) async throws -> ResourceReader.Resource? {
        let plan = ResourcePlan(type, for: view)
        let statement = try reader.statement(
            plan, matching: reader.isKey(key, of: type), limit: 1)
        return try await connection.query(statement.sql, statement.parameters).first.map {
            ResourceReader.Resource(plan: plan, row: $0)
        }
    }

    /// Checks the rules for the row before and after, and for each field that changes.
    private func authorize(
        _ operation: TomboloRules.Operation, _ type: ResourceType, old: Row?, new: Row, _ change: ResourceChange,
        at pointer: RequestPointer
    ) throws {
        func denial(_ row: Row) -> Decision.Denial? {
            let resource = TomboloRules.Resource.object(classIndex: type.classIndex, old: old, new: row)
            guard case .denied(let denial) = view.rules.authorize(view.subject, operation, resource) else { return nil }
            return denial
        }
        guard let found = denial(new) else { return }
        var failure = RequestFailure(found)
        failure.source = .pointer(pointer.description)
        // The field whose value alone would be refused, if there is one.
        if let old, denial(old) == nil {
            let field = change.values.keys.sorted().first { column in
                var row = old
                row[column] = new[column]
                return denial(row) != nil
            }
            if let field, let place = change.pointers[field] {
                failure.source = .pointer(place.description)
                failure.hintWording =
                    Wording(
                        "Leave '\(type.item.columns[field].name)' as it is, or ask for a role that may change it.")
            }
        }
        throw failure
    }
}

extension ResourceField {
    /// Whether a new resource must have a value: strings, dates, ids and data, and links that can't be null.
    package var isRequiredOnCreation: Bool {
        guard !isOptional else { return false }
        switch content {
        case .toOne: return true
        case .array, .embedded, .values, .objects, .toMany: return false
        case .value(_, let type):
            switch type {
            case .bool, .int, .float, .double, .decimal128: return false
            default: return true
            }
        }
    }
}
