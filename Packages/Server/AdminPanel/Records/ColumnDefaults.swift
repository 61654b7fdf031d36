import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// The defaults that the database has for columns. Those of a Swift class stay in the app: model documents don't have them.
enum ColumnDefaults {
    private static let query = """
        SELECT a.attname::text, pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d
        JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated = ''
        WHERE d.adrelid = to_regclass($1)
        """

    /// The texts of a class's default values, as the API has them, by column: only of literals. What has to be calculated
    /// isn't known before the object is made. A required column's zero is left out: objects get it without being told.
    static func texts(of type: ResourceType, _ schema: Schema, _ pool: PostgresPool) async throws -> [Int: String] {
        let table = PostgresSQL.quoteIdentifier(type.item.table)
        var texts: [Int: String] = [:]
        for row in try await pool.query(query, [.text(table)]) {
            let name = try row[0].string
            guard let index = type.item.columns.firstIndex(where: { $0.sqlName == name }),
                let text = literal(try row[1].string)
            else { continue }
            let column = type.item.columns[index]
            let stored = schema.storedType(of: column)
            guard let value = ValueText.value(text, stored), column.isOptional || value != stored.zero else { continue }
            texts[index] = text
        }
        return texts
    }

    /// The text of a literal as PostgreSQL prints it: `'draft'::text`, `10`, `true`; nil for any other expression.
    static func literal(_ expression: String) -> String? {
        if let match = expression.wholeMatch(of: /'((?:[^']|'')*)'::[^'()]+(?:\([0-9, ]+\))?[^'()]*/) {
            return String(match.1).replacing("''", with: "'")
        }
        let isPlain = expression.wholeMatch(of: /true|false|-?[0-9]+(\.[0-9]+)?/) != nil
        return isPlain ? expression : nil
    }
}

extension EditPage {
    /// What stands in the controls of a new object because the database has a default for it, as far as the caller may set it.
    func defaults() async throws -> [String: String] {
        let texts = try await ColumnDefaults.texts(of: type, view.schema, request.core.pool)
        guard !texts.isEmpty else { return [:] }
        let fixed = view.fixedColumns(of: type)
        var entered: [String: String] = [:]
        for field in fields {
            guard case .value(let column, _) = field.field.content, !fixed.contains(column), let text = texts[column]
            else { continue }
            entered[field.field.name] = field.text(field.json(text, was: .null))
        }
        return entered
    }
}
