internal import Foundation
internal import TomboloModel

extension MessageCodec {
    func wire(_ value: Value) -> WireValue {
        var result = WireValue()
        switch value {
        case .null: result.nil = true
        case .bool(let value): result.bool = value
        case .int(let value): result.int = value
        case .double(let value): result.double = value
        case .string(let value): result.string = value
        case .data(let value): result.data = value
        case .date(let value): result.date = value
        case .objectId(let value): result.objectID = Data(value.bytes)
        case .uuid(let value): result.uuid = withUnsafeBytes(of: value.uuid) { Data($0) }
        case .decimal(let value): result.decimal = value.withBIDBytes { Data($0) }
        }
        return result
    }

    func decode(_ value: WireValue) throws(ProtocolError) -> Value {
        switch value.kind {
        case nil: throw ProtocolError(.malformed, "a value of unknown kind")
        case .nil(let isNil):
            guard isNil else { throw ProtocolError(.malformed, "a nil value marked as not nil") }
            return .null
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .double(let value):
            guard !value.isNaN else { throw ProtocolError(.malformed, "NaN, which no property can hold") }
            return .double(value)
        case .string(let value): return .string(value)
        case .data(let value): return .data(value)
        case .date(let value):
            guard Value.dateRange.contains(value) else {
                throw ProtocolError(.malformed, "a date outside the years 1 to 9999: \(value) µs since 1970")
            }
            return .date(value)
        case .objectID(let bytes):
            guard let id = ObjectId(bytes: bytes) else {
                throw ProtocolError(.malformed, "an ObjectId of \(bytes.count) bytes instead of \(ObjectId.byteCount)")
            }
            return .objectId(id)
        case .uuid(let bytes):
            guard bytes.count == 16 else {
                throw ProtocolError(.malformed, "a UUID of \(bytes.count) bytes instead of 16")
            }
            return .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case .decimal(let bytes):
            guard bytes.count == Decimal128.byteCount else {
                throw ProtocolError(
                    .malformed, "a decimal of \(bytes.count) bytes instead of \(Decimal128.byteCount)")
            }
            guard let number = bytes.withUnsafeBytes({ Decimal128(canonicalBID: $0) }) else {
                throw ProtocolError(.malformed, "a decimal that isn't in canonical form")
            }
            return .decimal(number)
        }
    }

    /// The wire type of a stored type, with links already resolved to keys.
    func wireType(_ type: PropertyType) -> WireValueType {
        switch type {
        case .bool: .bool
        case .int: .int
        case .double: .double
        case .string: .string
        case .data: .data
        case .date: .date
        case .objectId: .objectID
        case .uuid: .uuid
        case .decimal128: .decimal
        case .float, .link, .embedded, .array, .list, .linkingObjects: .unspecified
        }
    }

    /// The position of the class with this name.
    func classIndex(_ name: String) throws(ProtocolError) -> Int {
        guard let index = schema.index(of: name) else {
            let hint = name.hint(in: schema.classes.map(\.name))
            throw ProtocolError(.badSchema, "there is no class '\(name.shortened)' in the schema\(hint)")
        }
        return index
    }

    /// The position of the property with this name in its class.
    func column(_ name: String, of item: ClassSchema) throws(ProtocolError) -> Int {
        guard let index = item.columnIndex(name) else {
            let hint = name.hint(in: item.columns.map(\.name))
            throw ProtocolError(.badSchema, "\(item.name) has no property '\(name.shortened)'\(hint)")
        }
        return index
    }
}

extension String {
    /// The number of bytes that messages quote of a name received over the network.
    private static let shownNameByteCount = 100

    /// The name, shortened for messages.
    var shortened: String { shortened(toByteCount: Self.shownNameByteCount) }

    /// A hint with the most similar known name, or an empty string.
    fileprivate func hint(in names: [String]) -> String {
        guard let name = nearest(in: names) else { return "" }
        return "; did you mean '\(name)'?"
    }
}
