import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloSQL

/// Finds the targets of links that a table writes as titles instead of ids. It only finds resources that the import's
/// user can see, by the titles that the choosers of forms show. Results are kept for the rest of the file.
struct ImportNames: Sendable {
    enum Found: Hashable, Sendable {
        case nothing
        /// The id of the only match.
        case one(String)
        case several
    }

    /// A cell that may contain a title.
    struct Cell: Sendable {
        let column: ImportMapping.Column
        let target: ResourceType
        let title: String
    }

    /// By the position of the class and the title, which is a string value, since those are compared by their bytes.
    private var found: [Int: [Value: Found]] = [:]

    /// - Returns: nil if the title hasn't been looked up.
    subscript(target: ResourceType, title: String) -> Found? { found[target.classIndex]?[.string(title)] }

    /// Looks up what isn't known yet, with one query for each target class.
    mutating func find(_ cells: [Cell], for view: CallerView, _ connection: PostgresConnection) async throws {
        let groups = Dictionary(grouping: cells, by: \.target.classIndex).sorted { $0.key < $1.key }
        for (index, group) in groups {
            guard let target = group.first?.target else { continue }
            let known = found[index] ?? [:]
            let titles = Set(group.map { Value.string($0.title) }).filter { known[$0] == nil }
                .sorted(by: Value.sortsBefore)
            guard !titles.isEmpty else { continue }
            let new = try await Self.find(titles, of: target, for: view, connection)
            found[index] = known.merging(new) { $1 }
        }
    }

    /// - Returns: a result for each title.
    private static func find(
        _ titles: [Value], of target: ResourceType, for view: CallerView, _ connection: PostgresConnection
    ) async throws -> [Value: Found] {
        var result = Dictionary(titles.map { ($0, Found.nothing) }) { first, _ in first }
        guard let column = view.titleField(of: target)?.column, view.refusal(.read, target) == nil else {
            return result
        }
        let condition = try view.readable(target).sql(
            .postgresql, className: target.item.name, in: view.schema, alias: ResourcePlan.alias, firstParameter: 2)
        let key = PostgresSQL.quoteIdentifier(ResourcePlan.alias, target.key.sqlName)
        let id = target.keyType == .objectId ? "encode(\(key), 'hex')" : "\(key)::text"
        let title = PostgresSQL.quoteIdentifier(ResourcePlan.alias, target.item.columns[column].sqlName)
        var parameters = [try PostgresParameter(list: titles, of: .string)]
        parameters += try condition.parameters.map { try PostgresParameter($0) }
        // String columns are compared by their bytes.
        let rows = try await connection.query(
            """
            SELECT v.n::int, count(*)::int, min(\(id)) FROM unnest($1::text[]) WITH ORDINALITY AS v (title, n)
            JOIN \(PostgresSQL.quoteIdentifier(target.item.table)) AS "\(ResourcePlan.alias)"
                ON \(title) = (v.title COLLATE "C")
            WHERE (\(condition.sql)) AND \(RowReader.isIn(trash: false, target.item, alias: ResourcePlan.alias))
            GROUP BY v.n
            """, parameters)
        for row in rows {
            let (place, count, id) = (try row[0].int, try row[1].int, try row[2].string)
            result[titles[place - 1]] = count == 1 ? .one(id) : .several
        }
        return result
    }
}

extension ImportMapping {
    /// The cells for to-one links of a row that don't contain an id.
    func titles(_ source: ImportSource) -> [ImportNames.Cell] {
        guard isTable else { return [] }
        return members.compactMap { member in
            guard case .column(let column) = member.node, case .toOne(_, let index) = member.field.content,
                let target = view.types[index], Self.isNamed(target), case .string(let text)? = source.value(column),
                target.keyValue(text) == nil, !text.isEmpty,
                text.utf8.count <= RequestParameters.maximumValueByteCount
            else { return nil }
            return ImportNames.Cell(column: column, target: target, title: unguarded(text))
        }
    }

    /// Whether ids can't be mistaken for titles.
    private static func isNamed(_ target: ResourceType) -> Bool {
        switch target.keyType {
        case .objectId, .uuid: true
        default: false
        }
    }

    /// A row with ids in place of titles.
    /// - Returns: nil if none of its titles leads to exactly one resource.
    func resolved(_ source: ImportSource, _ names: ImportNames) -> ImportSource? {
        var result: ImportSource?
        for cell in titles(source) {
            guard case .one(let id)? = names[cell.target, cell.title] else { continue }
            result = (result ?? source).replacing(cell.column, with: id)
        }
        return result
    }
}
