internal import PostgresClient
internal import TomboloChangesets
internal import TomboloModel

/// A refusal as a receipt keeps it: code, message, class, key.
enum StoredRefusal {
    static func read(_ row: PostgresRow, from column: Int, _ layout: StoreLayout) throws -> Refusal {
        let code = Refusal.Code(rawValue: try row[column].string) ?? .setAside
        let className = try row[column + 2].nonNull?.string
        let text = try row[column + 3].nonNull?.string
        let item = className.flatMap { layout.schema.index(of: $0) }.flatMap { layout.classes[$0] }
        let key = text.flatMap { text in item.flatMap { KeyText.value(text, $0.keyType) } }
        return Refusal(code, try row[column + 1].string, className: className, key: key)
    }
}
