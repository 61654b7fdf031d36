internal import Foundation
public import PostgresClient
public import TomboloModel

/// Converts results in binary form to values.
extension PostgresCell {
    /// The cell as a value of a stored type (``Schema/storedType(of:)``). A number that doesn't fit a `Decimal128`
    /// becomes NaN; tables created for synchronisation refuse such numbers.
    /// - Throws: `PostgresDecodingError` or ``ValueError`` if the cell contains something else, which can happen in a
    ///   table that wasn't created from the schema.
    public func value(of type: PropertyType) throws -> Value {
        if isNull { return .null }
        return switch type {
        case .bool: .bool(try bool)
        case .int: .int(try int64)
        case .double: .double(try double)
        case .string: .string(try string)
        case .data: .data(Data(try bytes))
        case .date: .date(try timestampMicroseconds)
        case .objectId: .objectId(try objectId)
        case .uuid: .uuid(try uuid)
        case .decimal128: .decimal(Decimal128(try scientific) ?? .nan)
        case .float, .link, .embedded, .array, .list, .linkingObjects: throw ValueError(notStored: type)
        }
    }

    /// An object's key: a `bytea` of 12 bytes.
    /// - Throws: `PostgresDecodingError` for NULL and other types, ``ValueError`` for another number of bytes.
    public var objectId: ObjectId {
        get throws {
            if oid == PostgresOID.bytea, !isNull, let id = withUnsafeBytes({ ObjectId(bytes: $0) }) { return id }
            let bytes = try bytes
            guard let id = ObjectId(bytes: bytes) else {
                throw ValueError("An ObjectId has \(ObjectId.byteCount) bytes; this one has \(bytes.count).")
            }
            return id
        }
    }
}
