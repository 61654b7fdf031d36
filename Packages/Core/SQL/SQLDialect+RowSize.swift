public import TomboloModel

extension SQLDialect {
    /// The columns of a class whose values vary in size: strings and data, including keys.
    public func sizedColumns(of item: ClassSchema, in schema: Schema) -> [Column] {
        item.columns.filter { column in
            switch schema.storedType(of: column) {
            case .string, .data: true
            default: false
            }
        }
    }

    /// An SQL condition that all strings and data in a row together have at most ``Row/maximumContentByteCount`` bytes.
    /// Nil if the class has too few such columns to exceed it.
    ///
    /// `octet_length` doesn't read values that PostgreSQL stores out of line.
    public func rowSizeCheck(of item: ClassSchema, in schema: Schema) -> String? {
        let columns = sizedColumns(of: item, in: schema)
        guard self == .postgresql, columns.count > 1 else { return nil }
        let sizes = columns.map { "coalesce(octet_length(\(quoted($0.sqlName))), 0)" }
        return "\(sizes.joined(separator: " + ")) <= \(Row.maximumContentByteCount)"
    }
}
