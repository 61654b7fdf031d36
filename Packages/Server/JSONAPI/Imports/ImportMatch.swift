import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloSQL

/// Properties that are unique together. An import can find a row's resource by them instead of by its id. The import's
/// user may read all of them, so matching reveals nothing about resources that they can't see.
struct ImportMatch: Hashable, Sendable {
    /// In the model's order.
    let columns: [Int]
    let names: [String]

    /// What an import of a type may match by instead of the id.
    static func all(of type: ResourceType, _ view: CallerView) -> [ImportMatch] {
        let fields = Dictionary(
            view.fields(of: type).compactMap { field in field.column.map { ($0, field) } },
            uniquingKeysWith: { first, _ in first })
        return type.item.uniqueColumns.compactMap { columns in
            let names = columns.compactMap { column -> String? in
                guard let field = fields[column] else { return nil }
                return switch field.content {
                case .value, .toOne: field.name
                case .array, .embedded, .values, .objects, .toMany: nil
                }
            }
            guard !names.isEmpty, names.count == columns.count, columns != [type.keyIndex] else { return nil }
            return ImportMatch(columns: columns, names: names)
        }
    }

    /// The properties as people read them: `event and name`.
    var text: Wording { names.wordingByAnd }

    /// The row's values of the properties; nil if it lacks one of them.
    func values(_ parsed: ImportMapping.Parsed, _ type: ResourceType, _ schema: Schema) -> [Value]? {
        var values: [Value] = []
        for (column, name) in zip(columns, names) {
            let stored = schema.storedType(of: type.item.columns[column])
            let json = parsed.attributes[name] ?? parsed.relationships[name]?["data"]?["id"] ?? .null
            guard let value = Self.value(json, stored), value != .null else { return nil }
            values.append(value)
        }
        return values
    }

    private static func value(_ json: JSON, _ type: PropertyType) -> Value? {
        switch (json, type) {
        case (.string(let text), .string): .string(text)
        case (.string(let text), _): ValueText.value(text, type, isOwn: true)
        case (.int(let number), .int): .int(number)
        case (.int(let number), .decimal128): ValueText.value("\(number)", .decimal128)
        case (.int(let number), .double), (.int(let number), .float): .double(Double(number))
        case (.double(let number), .double), (.double(let number), .float): .double(number)
        case (.bool(let flag), .bool): .bool(flag)
        default: nil
        }
    }

    // MARK: Looking

    /// The resources found for some values.
    struct Found: Sendable {
        /// The keys of resources that the user can see.
        var keys: [Value] = []
        /// Whether there's one in the trash, if the user may list it.
        var isInTrash = false
    }

    /// - Parameter wanted: values of the properties, each in the order of ``columns``.
    func find(
        _ wanted: [[Value]], of type: ResourceType, for view: CallerView, _ connection: PostgresConnection
    ) async throws -> [[Value]: Found] {
        guard !wanted.isEmpty else { return [:] }
        let stored = columns.map { view.schema.storedType(of: type.item.columns[$0]) }
        var parameters = try stored.enumerated().map { place, stored in
            try PostgresParameter(list: wanted.map { $0[place] }, of: stored)
        }
        let arrays = stored.enumerated().map { place, stored in
            "$\(place + 1)::\(SQLDialect.postgresql.castType(of: stored))[]"
        }
        let names = columns.indices.map { "c\($0)" }
        let same = zip(columns, zip(names, stored)).map { column, value in
            // String columns are compared by their bytes.
            let collation = value.1 == .string ? " COLLATE \"C\"" : ""
            return
                "\(PostgresSQL.quoteIdentifier(ResourcePlan.alias, type.item.columns[column].sqlName)) = "
                + "(v.\(value.0)\(collation))"
        }
        let readable = try condition(view.readable(type), isInTrash: false, type, view, &parameters)
        var visible = [readable]
        if type.item.isTrashable,
            case .allowed(let listed) = view.rules.authorize(
                view.subject, .listTrash, .objects(classIndex: type.classIndex))
        {
            visible.append(try condition(listed, isInTrash: true, type, view, &parameters))
        }
        let found = try await connection.query(
            """
            SELECT v.n::int, \(PostgresSQL.quoteIdentifier(ResourcePlan.alias, type.key.sqlName)),
                \(RowReader.isIn(trash: true, type.item, alias: ResourcePlan.alias))
            FROM unnest(\(arrays.joined(separator: ", "))) WITH ORDINALITY AS v (\(names.joined(separator: ", ")), n)
            JOIN \(PostgresSQL.quoteIdentifier(type.item.table)) AS "\(ResourcePlan.alias)" ON \(same.joined(separator: " AND "))
            WHERE \(visible.joined(separator: " OR "))
            """, parameters)
        var result: [[Value]: Found] = [:]
        for row in found {
            let values = wanted[try row[0].int - 1]
            if try row[2].bool {
                result[values, default: Found()].isInTrash = true
            } else {
                result[values, default: Found()].keys.append(try row[1].value(of: type.keyType))
            }
        }
        return result
    }

    private func condition(
        _ predicate: Predicate, isInTrash: Bool, _ type: ResourceType, _ view: CallerView,
        _ parameters: inout [PostgresParameter]
    ) throws -> String {
        let condition = try predicate.sql(
            .postgresql, className: type.item.name, in: view.schema, alias: ResourcePlan.alias,
            firstParameter: parameters.count + 1)
        parameters += try condition.parameters.map { try PostgresParameter($0) }
        return "(\(condition.sql) AND \(RowReader.isIn(trash: isInTrash, type.item, alias: ResourcePlan.alias)))"
    }
}
