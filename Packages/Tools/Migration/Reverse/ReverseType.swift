import TomboloModel
import TomboloSQL

/// What a column's type becomes in a model.
enum ReverseType {
    /// A property of this type, plus the conversion that the column needs first, if any.
    case property(PropertyType, conversion: Conversion?)
    /// Not part of a model, with the reason and the alternatives.
    case none(reason: String)

    /// How to change a column's type.
    struct Conversion {
        let type: String
        /// Nil if PostgreSQL converts the values by itself.
        let expression: String?
        let rewritesTable: Bool
    }

    init(_ column: SurveyedColumn) {
        let isDomain = !Self.names(of: column.baseType).contains { column.type.hasPrefix($0) }
        func made(_ type: PropertyType, exactly: Bool, rewrites: Bool, using: String? = nil) -> ReverseType {
            guard !exactly || isDomain else { return .property(type, conversion: nil) }
            return .property(
                type,
                conversion: Conversion(
                    type: SQLDialect.postgresql.columnType(of: type), expression: using, rewritesTable: rewrites))
        }
        switch column.baseType {
        case "bool": self = made(.bool, exactly: true, rewrites: false)
        case "int8": self = made(.int(bits: 64), exactly: true, rewrites: false)
        case "int2", "int4": self = made(.int(bits: 64), exactly: false, rewrites: true)
        case "float8": self = made(.double, exactly: true, rewrites: false)
        case "float4": self = made(.double, exactly: false, rewrites: true)
        case "text": self = made(.string, exactly: true, rewrites: false)
        case "varchar", "citext", "name": self = made(.string, exactly: false, rewrites: false)
        case "bpchar": self = made(.string, exactly: false, rewrites: true)
        case "enum": self = made(.string, exactly: false, rewrites: true, using: "::text")
        case "numeric": self = made(.decimal128, exactly: column.type == "numeric", rewrites: false)
        case "timestamptz": self = made(.date, exactly: column.type == "timestamp with time zone", rewrites: false)
        case "timestamp": self = made(.date, exactly: false, rewrites: true, using: " AT TIME ZONE 'UTC'")
        case "uuid": self = made(.uuid, exactly: true, rewrites: false)
        case "bytea": self = made(column.isTwelveBytes ? .objectId : .data, exactly: true, rewrites: false)
        case "date":
            self = .none(
                reason:
                    "Realm has no type for a date without a time. Alternatives: a timestamptz column (ALTER COLUMN … "
                    + "TYPE timestamptz USING … AT TIME ZONE 'UTC'), or text.")
        case "time", "timetz", "interval":
            self = .none(
                reason: "Realm has no type for \(column.type). Alternative: a bigint column with seconds or "
                    + "microseconds.")
        case "json", "jsonb":
            self = .none(
                reason: "JSON is merged as a whole, and Realm has no type for it. Alternatives: a text column, or "
                    + "columns and tables for its content.")
        case "array":
            self = .none(
                reason:
                    "An array can't be merged element by element. Alternative: a List property, which has a table of "
                    + "its own with a row for each element.")
        case "range": self = .none(reason: "Realm has no type for a range. Alternative: two columns for its bounds.")
        case "composite":
            self = .none(
                reason: "Realm has no type for a composite type. Alternative: an embedded object, whose properties are "
                    + "separate columns.")
        case "money":
            self = .none(reason: "The type money depends on the server's locale. Alternative: a numeric column.")
        default:
            self = .none(reason: "Realm has no type for \(column.type). Alternative: a text column.")
        }
    }

    /// What `format_type` prints for a type that isn't a domain.
    private static func names(of baseType: String) -> [String] {
        switch baseType {
        case "bool": ["boolean"]
        case "int8": ["bigint"]
        case "float8": ["double precision"]
        case "timestamptz": ["timestamp with", "timestamp("]
        default: [baseType]
        }
    }
}
