internal import Foundation
public import TomboloModel

/// The values of one column for all rows of a ``RowBlock``, packed so that no value needs its own allocation.
public struct ColumnVector: Hashable, Sendable {
    public enum Storage: Hashable, Sendable {
        /// For bool (0 or 1), int and date (microseconds).
        case integers([Int64])
        case doubles([Double])
        /// For string (UTF-8), data, objectId (12 bytes), uuid (16 bytes) and decimal128 (16 bytes, BID). Value `i`
        /// ends at `ends[i]`.
        case bytes(ends: [UInt32], heap: [UInt8])
    }

    /// The values, in row order.
    public var storage: Storage
    /// One bit per row, least significant first: 1 means nil. Empty if no value is nil. Nil rows hold 0 or no bytes.
    public var nulls: [UInt8]

    public init(storage: Storage, nulls: [UInt8] = []) {
        self.storage = storage
        self.nulls = nulls
    }

    /// An empty vector for values of a stored type (``Schema/storedType(of:)``).
    public init(type: PropertyType) {
        switch type {
        case .bool, .int, .date: self.init(storage: .integers([]))
        case .double: self.init(storage: .doubles([]))
        case .string, .data, .objectId, .uuid, .decimal128, .float, .link, .embedded, .array, .list, .linkingObjects:
            self.init(storage: .bytes(ends: [], heap: []))
        }
    }

    /// The number of rows.
    public var count: Int {
        switch storage {
        case .integers(let values): values.count
        case .doubles(let values): values.count
        case .bytes(let ends, _): ends.count
        }
    }

    @inlinable public func isNull(_ row: Int) -> Bool {
        let byte = row >> 3
        return byte < nulls.count && nulls[byte] & (1 << UInt8(row & 7)) != 0
    }

    /// Appends a value, which must be null or of the vector's type.
    public mutating func append(_ value: Value) {
        let row = count
        switch (storage, value) {
        case (.integers(var values), .bool(let flag)):
            storage = .integers([])
            values.append(flag ? 1 : 0)
            storage = .integers(values)
        case (.integers(var values), .int(let number)), (.integers(var values), .date(let number)):
            storage = .integers([])
            values.append(number)
            storage = .integers(values)
        case (.doubles(var values), .double(let number)):
            storage = .doubles([])
            values.append(number)
            storage = .doubles(values)
        case (.bytes, .string(var text)): text.withUTF8 { appendBytes(UnsafeRawBufferPointer($0)) }
        case (.bytes, .data(let data)): data.withUnsafeBytes { appendBytes($0) }
        case (.bytes, .objectId(let id)): id.bytes.withUnsafeBytes { appendBytes($0) }
        case (.bytes, .uuid(let id)): withUnsafeBytes(of: id.uuid) { appendBytes($0) }
        case (.bytes, .decimal(let number)): number.withBIDBytes { appendBytes($0) }
        case (.integers(var values), _):
            storage = .integers([])
            values.append(0)
            storage = .integers(values)
            setNull(row)
        case (.doubles(var values), _):
            storage = .doubles([])
            values.append(0)
            storage = .doubles(values)
            setNull(row)
        case (.bytes, _):
            appendBytes(UnsafeRawBufferPointer(start: nil, count: 0))
            setNull(row)
        }
    }

    /// Appends a value's bytes to a bytes column.
    public mutating func appendBytes(_ bytes: UnsafeRawBufferPointer) {
        guard case .bytes(var ends, var heap) = storage else { return }
        storage = .bytes(ends: [], heap: [])
        heap.append(contentsOf: bytes)
        ends.append(UInt32(heap.count))
        storage = .bytes(ends: ends, heap: heap)
    }

    /// Marks a row as nil.
    public mutating func setNull(_ row: Int) {
        let byte = row >> 3
        while nulls.count <= byte { nulls.append(0) }
        nulls[byte] |= 1 << UInt8(row & 7)
    }

    /// A row's value, as a value of the stored type. A block that passed ``RowBlock/check(in:)`` has one for every row.
    public func value(_ row: Int, as type: PropertyType) -> Value {
        if isNull(row) { return .null }
        switch (storage, type) {
        case (.integers(let values), .bool): return .bool(values[row] != 0)
        case (.integers(let values), .int): return .int(values[row])
        case (.integers(let values), .date): return .date(values[row])
        case (.doubles(let values), .double): return .double(values[row])
        case (.bytes(let ends, let heap), _):
            let bytes = heap[Int(row == 0 ? 0 : ends[row - 1])..<Int(ends[row])]
            switch type {
            case .string: return .string(String(decoding: bytes, as: UTF8.self))
            case .data: return .data(Data(bytes))
            case .objectId: return ObjectId(bytes: bytes).map(Value.objectId) ?? .null
            case .uuid:
                guard bytes.count == 16 else { return .null }
                return .uuid(
                    bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
            case .decimal128: return bytes.withUnsafeBytes { Decimal128(bid: $0) }.map(Value.decimal) ?? .null
            default: return .null
            }
        default: return .null
        }
    }
}
