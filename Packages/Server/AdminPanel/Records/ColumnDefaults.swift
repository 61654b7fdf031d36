import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// The database's defaults for columns. Defaults of a Swift class exist only in the app: model documents don't contain
/// them.
enum ColumnDefaults {
    private static let query = """
        SELECT a.attname::text, pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d
        JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated = ''
        WHERE d.adrelid = to_regclass($1)
        """

    /// The default values of a class's columns, as texts of the API. Only literals are included: a computed default
    /// isn't known before the object is created. The zero of a required column is left out, because objects get it
    /// anyway.
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
    /// The initial contents of a new object's controls, taken from the database's defaults, as far as the caller may
    /// set them.
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
