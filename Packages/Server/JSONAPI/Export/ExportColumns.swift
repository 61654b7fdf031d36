import PostgresClient
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloSQL

/// What an export shows of a type to one caller, as SQL expressions. PostgreSQL writes the text of every value, and
/// this server only puts bytes between them. The statement never reads what the caller may not see.
struct ExportColumns: Sendable {
    struct Column: Sendable {
        /// The member's name. In CSV, a member of an embedded object is named `address.city`.
        let name: String
        let sql: String
        /// Whether it contains text that people wrote, which a spreadsheet could take for a formula.
        var isText = false
        /// How the cell becomes a JSON value.
        let cell: ExportRowWriter.Cell
    }

    private static let alias = ResourcePlan.alias
    private let type: ResourceType
    private let view: CallerView
    private let isFlat: Bool
    private(set) var all: [Column] = []
    /// The joins after the table's name in the statement: the tables that titles come from.
    private(set) var joins = SQLFragment(sql: "", parameters: [])

    /// - Parameters:
    ///   - fields: the requested members; nil for all.
    ///   - isFlat: whether each value is one cell of a table, as in CSV, or JSON.
    ///   - titlesFrom: the number of the first placeholder in ``joins``, to show the titles of links' targets beside
    ///     their ids; nil for no titles.
    init(
        _ type: ResourceType, for view: CallerView, fields: Set<String>?, isFlat: Bool, titlesFrom first: Int? = nil
    ) throws {
        self.type = type
        self.view = view
        self.isFlat = isFlat
        all = [column("id", Self.name(type.key), type.keyType)]
        for field in view.fields(of: type) where fields?.contains(field.name) ?? true {
            all += columns(field, prefix: "")
            guard let first else { continue }
            try addTitle(of: field, firstParameter: first)
            try addTitles(of: field, firstParameter: first)
        }
    }

    /// Adds the column with the title of a link's target, if the caller may read it. It uses a join, so that PostgreSQL
    /// may read a small table just once, and memory stays bounded.
    private mutating func addTitle(of field: ResourceField, firstParameter: Int) throws {
        guard case .toOne(let index, let target) = field.content, let target = view.types[target],
            let title = view.titleField(of: target)?.column, view.refusal(.read, target) == nil
        else { return }
        let alias = "titled\(index)"
        let item = target.item
        let condition = try view.readable(target).sql(
            .postgresql, className: item.name, in: view.schema, alias: alias,
            firstParameter: firstParameter + joins.parameters.count)
        joins = SQLFragment(
            sql: joins.sql + """

                LEFT JOIN \(PostgresSQL.quoteIdentifier(item.table)) AS "\(alias)" \
                ON \(PostgresSQL.quoteIdentifier(alias, target.key.sqlName)) = \(Self.name(type.item.columns[index])) \
                AND \(RowReader.isIn(trash: false, item, alias: alias)) AND (\(condition.sql))
                """,
            parameters: joins.parameters + condition.parameters)
        let sql = PostgresSQL.quoteIdentifier(alias, item.columns[title].sqlName)
        all.append(Column(name: field.titleName, sql: sql, isText: true, cell: .text))
    }

    /// Adds the column with the titles of a list of links, in the list's order. In JSON, a target that the caller may
    /// not read is null; in CSV each title is a line of the cell.
    private mutating func addTitles(of field: ResourceField, firstParameter: Int) throws {
        guard case .toMany(let elements, let target) = field.content, let target = view.types[target],
            let titleColumn = view.titleField(of: target)?.column, view.refusal(.read, target) == nil
        else { return }
        let item = view.schema[elements]
        func own(_ index: Int) -> String { PostgresSQL.quoteIdentifier("e", item.columns[index].sqlName) }
        let condition = try view.readable(target).sql(
            .postgresql, className: target.item.name, in: view.schema, alias: "t",
            firstParameter: firstParameter + joins.parameters.count)
        joins = SQLFragment(sql: joins.sql, parameters: joins.parameters + condition.parameters)
        let title =
            "CASE WHEN \(condition.sql) THEN "
            + "\(PostgresSQL.quoteIdentifier("t", target.item.columns[titleColumn].sqlName)) END"
        let order = "ORDER BY \(own(ElementColumn.rank)), \(own(ElementColumn.id))"
        let list =
            isFlat ? "string_agg(\(title), E'\\n' \(order))" : "coalesce(json_agg(\(title) \(order)), '[]')"
        let sql = """
            (SELECT \(list) FROM \(PostgresSQL.quoteIdentifier(item.table)) AS "e" \
            JOIN \(PostgresSQL.quoteIdentifier(target.item.table)) AS "t" \
            ON \(PostgresSQL.quoteIdentifier("t", target.key.sqlName)) = \(own(ElementColumn.content)) \
            AND \(RowReader.isIn(trash: false, target.item, alias: "t")) \
            WHERE \(own(ElementColumn.owner)) = \(Self.name(type.key)))
            """
        all.append(Column(name: field.titleName, sql: sql, isText: isFlat, cell: isFlat ? .text : .json))
    }

    private static func name(_ column: TomboloModel.Column) -> String {
        PostgresSQL.quoteIdentifier(alias, column.sqlName)
    }

    private func column(_ name: String, _ sql: String, _ type: PropertyType) -> Column {
        // COPY would write 't' for true.
        let text = isFlat && type == .bool ? "\(sql)::text" : Self.text(sql, type)
        return Column(name: name, sql: text, isText: type == .string, cell: Self.cell(type))
    }

    private static func cell(_ type: PropertyType) -> ExportRowWriter.Cell {
        switch type {
        case .bool: .truth
        case .int, .double, .float: .number
        case .objectId, .date, .data, .decimal128, .uuid: .quoted
        default: .text
        }
    }

    /// - Parameter prefix: the embedded object's name with its dot.
    private func columns(_ field: ResourceField, prefix: String) -> [Column] {
        let name = prefix + field.name
        func own(_ index: Int) -> String { Self.name(type.item.columns[index]) }
        /// The value of a column; null for a link to an object in the trash.
        func link(_ index: Int) -> String {
            ResourcePlan.linkSQL(own(index), view.schema.trashableTarget(of: type.item.columns[index]))
        }
        switch field.content {
        case .value(let index, _):
            return [column(name, link(index), view.schema.storedType(of: type.item.columns[index]))]
        case .toOne(let index, let target):
            guard let target = view.types[target] else { return [] }
            return [column(name, link(index), target.keyType)]
        case .embedded(let index, let inner):
            let members = inner.flatMap { columns($0, prefix: isFlat ? "\(name)." : "") }
            if isFlat { return members }
            guard !members.isEmpty else { return [] }
            let object = "(SELECT row_to_json(\"e\") FROM (SELECT \(Self.list(members))) AS \"e\")"
            let sql = "CASE WHEN \(own(index)) IS NOT NULL THEN \(object) END"
            return [Column(name: name, sql: sql, cell: .json)]
        case .values(let elements, _): return [elementsColumn(name, elements)]
        case .toMany(let elements, let target):
            guard view.types[target] != nil else { return [] }
            return [elementsColumn(name, elements)]
        case .objects(let elements, let fields):
            let sql = objectsSQL(elements, fields, parent: nil, depth: 0)
            return [Column(name: name, sql: sql, cell: .json)]
        // Several values encoded in the bytes of one column, which PostgreSQL can't read.
        case .array: return []
        }
    }

    static func list(_ columns: [Column]) -> String {
        columns.map { "\($0.sql) AS \(PostgresSQL.quoteIdentifier($0.name))" }.joined(separator: ", ")
    }

    /// Text as JSON:API has it: ids as strings, dates in ISO 8601, base64 on one line.
    private static func text(_ sql: String, _ type: PropertyType) -> String {
        switch type {
        case .objectId: "encode(\(sql), 'hex')"
        case .date: "to_char(\(sql) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
        case .data: "translate(encode(\(sql), 'base64'), E'\\n', '')"
        case .decimal128, .uuid: "\(sql)::text"
        default: sql
        }
    }

    /// A list in its order, as a JSON array in either format.
    private func elementsColumn(_ name: String, _ elements: Int) -> Column {
        let item = view.schema[elements]
        func column(_ index: Int) -> String { PostgresSQL.quoteIdentifier("e", item.columns[index].sqlName) }
        let content = column(ElementColumn.content)
        let stored = view.schema.storedType(of: item.columns[ElementColumn.content])
        var tables = "\(PostgresSQL.quoteIdentifier(item.table)) AS \"e\""
        let target = view.schema.trashableTarget(of: item.columns[ElementColumn.content])
        if let target, let key = target.primaryKey {
            tables +=
                " JOIN \(PostgresSQL.quoteIdentifier(target.table)) AS \"t\" "
                + "ON \(PostgresSQL.quoteIdentifier("t", key.sqlName)) = \(content) "
                + "AND \(RowReader.isIn(trash: false, target, alias: "t"))"
        }
        let sql = """
            (SELECT coalesce(json_agg(\(Self.text(content, stored)) \
            ORDER BY \(column(ElementColumn.rank)), \(column(ElementColumn.id))), '[]') FROM \(tables) \
            WHERE \(column(ElementColumn.owner)) = \(Self.name(type.key)))
            """
        return Column(name: name, sql: sql, cell: .json)
    }

    // MARK: Lists of embedded objects

    /// A list of embedded objects in its order, as a JSON array, with the elements' ids.
    /// - Parameter parent: for a list inside another list, the id of the element that has it.
    private func objectsSQL(_ elements: Int, _ fields: [ResourceField], parent: String?, depth: Int) -> String {
        let item = view.schema[elements]
        let alias = "e\(depth)"
        func own(_ index: Int) -> String { PostgresSQL.quoteIdentifier(alias, item.columns[index].sqlName) }
        func members(_ fields: [ResourceField]) -> [(name: String, sql: String)] {
            fields.compactMap { field in
                switch field.content {
                case .value(let index, _):
                    let column = item.columns[index]
                    let sql = ResourcePlan.linkSQL(own(index), view.schema.trashableTarget(of: column))
                    return (field.name, Self.text(sql, view.schema.storedType(of: column)))
                case .embedded(let index, let inner):
                    return (field.name, "CASE WHEN \(own(index)) IS NOT NULL THEN \(Self.row(members(inner))) END")
                case .values(let list, _): return (field.name, valuesSQL(list, parent: own(ElementColumn.id)))
                case .objects(let list, let inner):
                    return (
                        field.name, objectsSQL(list, inner, parent: own(ElementColumn.id), depth: depth + 1)
                    )
                case .array, .toOne, .toMany: return nil
                }
            }
        }
        let id = (ResourceField.elementID, Self.text(own(ElementColumn.id), .objectId))
        return listSQL(item, alias, Self.row([id] + members(fields)), parent: parent)
    }

    /// The values of a list inside an element of another list.
    private func valuesSQL(_ elements: Int, parent: String) -> String {
        let item = view.schema[elements]
        let content = item.columns[ElementColumn.content]
        let column = PostgresSQL.quoteIdentifier("v", content.sqlName)
        return listSQL(
            item, "v", Self.text(column, view.schema.storedType(of: content)), parent: parent,
            condition: ResourcePlan.isShown(column, view.schema.trashableTarget(of: content)))
    }

    private func listSQL(
        _ item: ClassSchema, _ alias: String, _ element: String, parent: String?, condition isShown: String = "TRUE"
    ) -> String {
        func own(_ index: Int) -> String { PostgresSQL.quoteIdentifier(alias, item.columns[index].sqlName) }
        var condition = "\(own(ElementColumn.owner)) = \(Self.name(type.key)) AND \(isShown)"
        if let parent, let column = item.parentColumn { condition += " AND \(own(column)) = \(parent)" }
        return """
            (SELECT coalesce(json_agg(\(element) ORDER BY \(own(ElementColumn.rank)), \(own(ElementColumn.id))), '[]') \
            FROM \(PostgresSQL.quoteIdentifier(item.table)) AS "\(alias)" WHERE \(condition))
            """
    }

    /// Functions that build objects take too few arguments for a class with many properties.
    private static func row(_ members: [(name: String, sql: String)]) -> String {
        let list = members.map { "\($0.sql) AS \(PostgresSQL.quoteIdentifier($0.name))" }.joined(separator: ", ")
        return "(SELECT row_to_json(\"r\") FROM (SELECT \(list)) AS \"r\")"
    }
}
