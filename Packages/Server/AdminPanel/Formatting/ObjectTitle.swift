import TomboloHTTP
import TomboloModel

/// An object's title on pages: its name or title if its class has such a property, otherwise its first text, and as a
/// last resort its id.
enum ObjectTitle {
    private static let names = ["name", "title", "displayName", "subject", "label", "email", "identifier"]
    /// The length limit, in bytes of UTF-8.
    static let byteLimit = 120

    static func of(_ row: Row, _ item: ClassSchema) -> String {
        let preferred = names.compactMap { item.columnIndex($0) }
        let others = item.columns.indices.filter { item.columns[$0].type == .string && !preferred.contains($0) }
        for index in preferred + others {
            guard case .string(let text) = row[index] else { continue }
            let plain = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            if !plain.isEmpty { return plain.shortened(toByteCount: byteLimit) }
        }
        let name = ClassTitle.words(item.name)
        return item.primaryKeyIndex.map { "\(name) \(row[$0])" } ?? name
    }
}
