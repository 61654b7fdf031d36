public import TomboloModel

/// The column types of `docs/values.md`. Property types are mapped to database types only here.
extension SQLDialect {
    /// The database type of a stored type (``Schema/storedType(of:)``), without constraints: `bigint`,
    /// `text COLLATE "C"`, `BLOB`.
    public func columnType(of type: PropertyType) -> String {
        switch (self, type) {
        case (.sqlite, .bool), (.sqlite, .int), (.sqlite, .date): "INTEGER"
        case (.sqlite, .double): "REAL"
        case (.sqlite, .string), (.sqlite, .decimal128): "TEXT"
        case (.sqlite, _): "BLOB"
        case (.postgresql, .bool): "boolean"
        case (.postgresql, .int): "bigint"
        case (.postgresql, .double): "double precision"
        case (.postgresql, .string): "text COLLATE \"C\""
        case (.postgresql, .date): "timestamptz"
        case (.postgresql, .uuid): "uuid"
        case (.postgresql, .decimal128): "numeric"
        case (.postgresql, _): "bytea"
        }
    }

    /// The type name for a cast: ``columnType(of:)`` without its collation.
    public func castType(of type: PropertyType) -> String {
        type == .string && self == .postgresql ? "text" : columnType(of: type)
    }

    /// An SQL condition that a column's values must satisfy in addition to having the type, or nil if the type is enough.
    ///
    /// Any service may write to PostgreSQL, so the database itself checks what devices check in
    /// ``Column/validate(_:linkKeyType:)``. A device's file has only one writer, which has already checked the values,
    /// so SQLite columns have no conditions.
    /// - Parameter column: the column's name, quoted.
    public func check(_ column: String, of type: PropertyType) -> String? {
        guard self == .postgresql else { return nil }
        switch type {
        case .int(let bits) where bits < 64:
            let limit = Int64(1) << Int64(bits - 1)
            return "\(column) BETWEEN \(-limit) AND \(limit - 1)"
        case .double, .float: return "\(column) <> 'NaN'"
        case .string, .data: return "octet_length(\(column)) <= \(Value.maximumByteCount)"
        case .date:
            return "isfinite(\(column)) AND \(column) >= '0001-01-01 00:00:00+00' "
                + "AND \(column) < '10000-01-01 00:00:00+00'"
        case .objectId: return "octet_length(\(column)) = \(ObjectId.byteCount)"
        case .decimal128: return decimalCheck(column)
        case .bool, .int, .uuid, .link, .embedded, .array, .list, .linkingObjects: return nil
        }
    }

    /// Limits values to the range of ``Decimal128``: PostgreSQL's `numeric` has up to 131,072 digits before the point
    /// and 16,383 after it. Leading and trailing zeros don't count. The exponent is in range if there are at most 34
    /// digits, none above the greatest place and none below the least.
    private func decimalCheck(_ column: String) -> String {
        let digits = "btrim(replace(abs(\(column))::text, '.', ''), '0')"
        let end = Decimal128.maximumExponent + Decimal128.maximumDigits
        return
            "\(column) IN ('NaN', 'Infinity', '-Infinity') OR octet_length(\(digits)) <= \(Decimal128.maximumDigits) "
            + "AND abs(\(column)) < '1e\(end)' AND scale(trim_scale(\(column))) <= \(-Decimal128.minimumExponent)"
    }

    /// A column as in CREATE TABLE: name, type, NOT NULL and CHECK. The caller adds keys, references and defaults.
    ///
    ///     "starts_at" timestamptz NOT NULL CHECK (isfinite("starts_at") AND …)
    public func columnDefinition(of column: Column, in schema: Schema) -> String {
        let type = schema.storedType(of: column)
        let name = quoted(column.sqlName)
        var parts = [name, columnType(of: type)]
        if !column.isOptional { parts.append("NOT NULL") }
        if let condition = check(name, of: type) { parts.append("CHECK (\(condition))") }
        return parts.joined(separator: " ")
    }

    /// The zero value of a stored type as an SQL constant. It's the DEFAULT when a required column is added to a table
    /// that has rows.
    public func zeroLiteral(of type: PropertyType) -> String {
        switch (self, type) {
        case (.sqlite, .bool), (_, .int), (.sqlite, .date): "0"
        case (_, .double): "0.0"
        case (.postgresql, .bool): "FALSE"
        case (.postgresql, .date): "'1970-01-01 00:00:00+00'"
        case (_, .string): "''"
        case (.sqlite, .decimal128): "'0'"
        case (.postgresql, .decimal128): "0"
        case (.sqlite, .data): "x''"
        case (.postgresql, .data): "'\\x'"
        case (.sqlite, .objectId): "x'\(String(repeating: "00", count: ObjectId.byteCount))'"
        case (.postgresql, .objectId): "'\\x\(String(repeating: "00", count: ObjectId.byteCount))'"
        case (.sqlite, .uuid): "x'\(String(repeating: "00", count: 16))'"
        case (.postgresql, .uuid): "'00000000-0000-0000-0000-000000000000'"
        case (_, _): "NULL"
        }
    }
}
