import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloSQL

/// An export as one `COPY (SELECT …) TO STDOUT`.
///
/// COPY takes no parameters, and no value may become part of its text. So a statement before it binds the values as
/// parameters and stores them in transaction settings. COPY reads those with `current_setting`, which the planner
/// treats as constants.
struct ExportStatement: Sendable {
    /// The prefix of the settings' names.
    private static let setting = "tombolo.export_"
    /// The first characters of text that a spreadsheet would calculate, or that would look guarded already: `'`, `=`,
    /// `+`, `-`, `@`, tab, carriage return and line feed, and the full-width forms, which East Asian versions treat
    /// like the others. An import removes one `'` before any of them.
    static let guarded = Set("'=+-@\t\r\n＝＋－＠".unicodeScalars)

    /// Binds the values. It must run in the same transaction as ``copy``.
    let settings: PostgresStatement
    let copy: String
    /// Turns the rows into objects; nil if they stay as they are.
    let writer: ExportRowWriter?

    /// - Parameters:
    ///   - sorts: empty for the order in which PostgreSQL finds the rows.
    ///   - guardsFormulas: whether to keep spreadsheets from calculating text in CSV.
    ///   - hasTitles: whether to show the titles of links' targets beside their ids.
    init(
        _ type: ResourceType, _ query: ResourceQuery, sorts: [ResourceQuery.Sort], format: ExportFormat,
        guardsFormulas: Bool, hasTitles: Bool = false, for view: CallerView
    ) throws {
        var builder = try SQLBuilder.resources(of: type, for: view)
        let condition = try builder.condition(visible: view.readable(type), asked: query.filter)
        let order = try builder.orderBy(sorts.map { SQLSort($0.path, ascending: $0.isAscending) })
        let columns = try ExportColumns(
            type, for: view, fields: query.fields[type.name], isFlat: format == .csv,
            titlesFrom: hasTitles ? builder.parameters.count + 1 : nil)
        let rows = """
            FROM \(PostgresSQL.quoteIdentifier(type.item.table)) AS "\(ResourcePlan.alias)"\(columns.joins.sql)
            WHERE \(condition) AND \(RowReader.isIn(trash: false, type.item, alias: ResourcePlan.alias))\
            \(order.isEmpty ? "" : "\nORDER BY \(order)")
            """
        let select: String
        switch format {
        case .csv:
            let cells = columns.all.map { column in
                column.isText && guardsFormulas
                    ? ExportColumns.Column(name: column.name, sql: Self.guarded(column.sql), cell: column.cell) : column
            }
            select = "SELECT \(ExportColumns.list(cells)) \(rows)"
            writer = nil
        case .json, .ndjson:
            select = "SELECT \(ExportColumns.list(columns.all)) \(rows)"
            writer = ExportRowWriter(columns.all.map { ($0.name, $0.cell) }, isArray: format == .json)
        }
        let values = Values(builder.parameters + columns.joins.parameters)
        let text = values.replacingPlaceholders(in: select)
        copy = "COPY (\(text)) TO STDOUT\(format == .csv ? " WITH (FORMAT csv, HEADER)" : "")"
        // The text form of values, and of numbers in the export, mustn't depend on the session's settings.
        let fixed = ["datestyle": "ISO, YMD", "bytea_output": "hex", "extra_float_digits": "1"]
            .sorted { $0.key < $1.key }.map { "set_config('\($0.key)', '\($0.value)', true)" }
        settings = PostgresStatement(
            "SELECT \((fixed + values.settings).joined(separator: ", "))",
            try values.bound.map { try PostgresParameter($0) })
    }

    private static func guarded(_ sql: String) -> String {
        // `ascii` returns the first code point, since the databases are UTF-8.
        let codes = guarded.map(\.value).sorted().map { "\($0)" }.joined(separator: ", ")
        return "CASE WHEN ascii(\(sql)) IN (\(codes)) THEN '''' || \(sql) ELSE \(sql) END"
    }

    /// The bound values, and the settings from which COPY reads them.
    private struct Values {
        let parameters: [SQLParameter]
        private(set) var settings: [String] = []
        private(set) var bound: [SQLParameter] = []
        /// The SQL expression for each parameter.
        private var expressions: [String] = []

        init(_ parameters: [SQLParameter]) {
            self.parameters = parameters
            for parameter in parameters {
                let type =
                    SQLDialect.postgresql.castType(of: parameter.type) + (parameter.list == nil ? "" : "[]")
                guard parameter.list != nil || !parameter.value.isNull else {
                    // A setting can't be null.
                    expressions.append("NULL::\(type)")
                    continue
                }
                bound.append(parameter)
                let name = "\(ExportStatement.setting)\(bound.count)"
                settings.append("set_config('\(name)', ($\(bound.count)::\(type))::text, true)")
                expressions.append("current_setting('\(name)')::\(type)")
            }
        }

        /// Replaces `$1`, `$2`, … with the expressions, except in quoted names and strings.
        func replacingPlaceholders(in sql: String) -> String {
            let bytes = Array(sql.utf8)
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            var quote: UInt8?
            var place = 0
            while place < bytes.count {
                let byte = bytes[place]
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    if quote == nil { quote = byte } else if quote == byte { quote = nil }
                }
                var end = place + 1
                if quote == nil, byte == UInt8(ascii: "$") {
                    while end < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[end]) { end += 1 }
                }
                if end > place + 1, let number = Int(String(decoding: bytes[(place + 1)..<end], as: UTF8.self)),
                    expressions.indices.contains(number - 1)
                {
                    result += Array("(\(expressions[number - 1]))".utf8)
                } else {
                    result += bytes[place..<end]
                }
                place = end
            }
            return String(decoding: result, as: UTF8.self)
        }
    }
}
