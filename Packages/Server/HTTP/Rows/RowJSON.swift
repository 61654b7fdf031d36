public import PostgresClient
import PostgresValues
public import TomboloModel

/// Writes rows of one class as JSON objects, straight from a result's bytes. An object has the members that ``JSON``
/// has for such a row, and optionally members of the service's own, ordered by name.
public struct RowJSON: Sendable {
    private enum Source {
        case column(Int, PropertyType)
        /// A member of the service's own.
        case own(Int)
    }

    /// Each member's quoted name with the punctuation around it: `,"name":`.
    private let members: [(name: [UInt8], source: Source)]

    /// - Parameter own: names of members that no column has; their values come with each row.
    public init(_ item: ClassSchema, schema: Schema, with own: [String] = []) {
        var all: [(name: String, source: Source)] = item.columns.enumerated().map { index, column in
            (column.name, .column(index, schema.storedType(of: column)))
        }
        all += own.enumerated().map { ($1, .own($0)) }
        all.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        members = all.enumerated().map { index, member in
            var name = JSONBytes()
            name.append(index == 0 ? "{" : ",")
            name.append(string: member.name)
            name.append(":")
            return (name.bytes, member.source)
        }
    }

    /// Appends a row as an object.
    /// - Parameters:
    ///   - row: its first columns are ``RowReader/columns(of:alias:)``, in binary form.
    ///   - own: the values of the service's own members, in the order of their names in the initialiser.
    /// - Throws: `PostgresDecodingError` or ``ValueError`` for a table that wasn't made from the schema.
    public func append(_ row: PostgresRow, own: [Int64] = [], to json: inout JSONBytes) throws {
        for (name, source) in members {
            json.append(name)
            switch source {
            case .own(let index): json.append(own[index])
            case .column(let index, let type): try Self.append(row[index], type, to: &json)
            }
        }
        json.append(members.isEmpty ? "{}" : "}")
    }

    /// Appends one cell as the JSON of a value.
    /// - Parameter type: a stored type (`Schema.storedType(of:)`).
    /// - Throws: the errors of ``append(_:own:to:)``.
    public static func append(_ cell: PostgresCell, _ type: PropertyType, to json: inout JSONBytes) throws {
        guard !cell.isNull else { return json.append(null: ()) }
        switch type {
        case .bool: json.append(try cell.bool)
        case .int: json.append(try cell.int64)
        case .double: json.append(try cell.double)
        case .date: json.append(timestamp: try cell.timestampMicroseconds)
        case .string:
            // The encoding of ASCII text needs no check.
            let isWritten =
                cell.oid == PostgresOID.text
                && cell.withUnsafeBytes { bytes in
                    guard bytes.allSatisfy({ $0 < 0x80 }) else { return false }
                    json.append(utf8: bytes)
                    return true
                }
            if !isWritten { json.append(string: try cell.string) }
        case .objectId:
            let isWritten =
                cell.oid == PostgresOID.bytea
                && cell.withUnsafeBytes { bytes in
                    guard bytes.count == ObjectId.byteCount else { return false }
                    json.append(hex: bytes)
                    return true
                }
            if !isWritten { json.append(string: try cell.objectId.stringValue) }
        default: JSON(try cell.value(of: type)).append(to: &json)
        }
    }
}
