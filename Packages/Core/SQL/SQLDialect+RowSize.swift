public import TomboloModel

extension SQLDialect {
    /// The columns of a class whose values have no fixed size: text and data, keys among them.
    public func sizedColumns(of item: ClassSchema, in schema: Schema) -> [Column] {
        item.columns.filter { column in
            switch schema.storedType(of: column) {
            case .string, .data: true
            default: false
            }
        }
    }

    /// That a row's text and data have at most ``Row/maximumContentByteCount`` bytes together, as an SQL condition; nil
    /// where one value alone has its own limit.
    ///
    /// `octet_length` does not read values that PostgreSQL keeps out of the row.
    public func rowSizeCheck(of item: ClassSchema, in schema: Schema) -> String? {
        let columns = sizedColumns(of: item, in: schema)
        guard self == .postgresql, columns.count > 1 else { return nil }
        let sizes = columns.map { "coalesce(octet_length(\(quoted($0.sqlName))), 0)" }
        return "\(sizes.joined(separator: " + ")) <= \(Row.maximumContentByteCount)"
    }
}
