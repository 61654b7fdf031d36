public import Foundation

/// Stores several values in one database column: the elements of a list inside an embedded object. They are encoded
/// property by property, so that the points of a stroke become two runs of little-endian doubles.
///
/// Format: the number of elements (unsigned LEB128). Then, for each property, a byte that is 1 if a null bitmap
/// follows, with one bit per element (least significant bit first), and then the values that aren't nil: integers,
/// dates and doubles in 8 bytes, Booleans in 1, ObjectIds in 12, UUIDs and decimals in 16, strings and data preceded by
/// their length (LEB128). Little-endian.
public enum ArrayCoding {
    /// A list without elements.
    public static let empty = Data([0])
    /// The maximum number of elements in a list. A list in a column is always written as a whole.
    public static let maximumCount = 1 << 20

    /// - Parameter elements: each has a value or null for every type.
    public static func encode(_ elements: [[Value]], _ types: [PropertyType]) -> Data {
        var writer = ByteWriter()
        writer.appendLength(elements.count)
        guard !elements.isEmpty else { return writer.data }
        for (column, _) in types.enumerated() {
            let values = elements.map { column < $0.count ? $0[column] : .null }
            let hasNulls = values.contains(where: \.isNull)
            writer.append(hasNulls ? 1 : 0)
            if hasNulls {
                for start in stride(from: 0, to: values.count, by: 8) {
                    var byte: UInt8 = 0
                    for bit in 0..<min(8, values.count - start) where values[start + bit].isNull { byte |= 1 << bit }
                    writer.append(byte)
                }
            }
            for value in values { writer.append(value) }
        }
        return writer.data
    }

    /// The number of elements that the bytes claim to have, or nil if they contain no number.
    static func count(_ data: Data) -> Int? {
        var reader = ByteReader(data)
        return reader.length()
    }

    /// Decodes the elements. Returns nil for bytes that ``encode(_:_:)`` can't have produced for these types.
    public static func decode(_ data: Data, _ types: [PropertyType]) -> [[Value]]? {
        var reader = ByteReader(data)
        // Each element takes at least one bit.
        guard let count = reader.length(), count <= maximumCount, types.isEmpty || (count + 7) / 8 <= data.count else {
            return nil
        }
        var elements = Array(repeating: Array(repeating: Value.null, count: types.count), count: count)
        guard count > 0 else { return reader.isAtEnd ? elements : nil }
        for (column, type) in types.enumerated() {
            guard let flag = reader.byte(), flag <= 1 else { return nil }
            var nulls: [UInt8] = []
            if flag == 1 {
                for _ in 0..<((count + 7) / 8) {
                    guard let byte = reader.byte() else { return nil }
                    nulls.append(byte)
                }
            }
            for index in 0..<count {
                if flag == 1, nulls[index >> 3] & (1 << (index & 7)) != 0 { continue }
                guard let value = reader.value(type.stored) else { return nil }
                elements[index][column] = value
            }
        }
        return reader.isAtEnd ? elements : nil
    }
}

private struct ByteWriter {
    var data = Data()

    mutating func append(_ byte: UInt8) { data.append(byte) }

    mutating func appendLength(_ length: Int) {
        var rest = UInt64(length)
        while rest >= 0x80 {
            data.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        data.append(UInt8(rest))
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
    }

    mutating func append(_ value: Value) {
        switch value {
        case .null: break
        case .bool(let value): data.append(value ? 1 : 0)
        case .int(let value), .date(let value): append(value as Int64)
        case .double(let value): append(value.bitPattern)
        case .string(let value):
            appendLength(value.utf8.count)
            data.append(contentsOf: value.utf8)
        case .data(let value):
            appendLength(value.count)
            data.append(value)
        case .objectId(let value):
            append(value.high)
            append(value.low)
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { data.append(contentsOf: $0) }
        case .decimal(let value):
            append(value.high)
            append(value.low)
        }
    }
}

private struct ByteReader {
    private let data: Data
    private var position: Data.Index

    init(_ data: Data) {
        self.data = data
        position = data.startIndex
    }

    var isAtEnd: Bool { position == data.endIndex }

    mutating func byte() -> UInt8? {
        guard position < data.endIndex else { return nil }
        defer { position += 1 }
        return data[position]
    }

    mutating func length() -> Int? {
        var result: UInt64 = 0
        for shift in stride(from: 0, to: 35, by: 7) {
            guard let byte = byte() else { return nil }
            result |= UInt64(byte & 0x7f) << UInt64(shift)
            if byte < 0x80 { return Int(result) }
        }
        return nil
    }

    private mutating func bytes(_ count: Int) -> Data? {
        guard count <= data.endIndex - position else { return nil }
        defer { position += count }
        return data[position..<(position + count)]
    }

    private mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        bytes(MemoryLayout<Number>.size).map { part in
            part.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
        }
    }

    mutating func value(_ type: PropertyType) -> Value? {
        switch type {
        case .bool: byte().map { .bool($0 != 0) }
        case .int: number(Int64.self).map(Value.int)
        case .date: number(Int64.self).map(Value.date)
        case .double: number(UInt64.self).map { .double(Double(bitPattern: $0)) }
        case .string: length().flatMap { bytes($0) }.map { .string(String(decoding: $0, as: UTF8.self)) }
        case .data: length().flatMap { bytes($0) }.map { .data(Data($0)) }
        case .objectId:
            if let high = number(UInt64.self), let low = number(UInt32.self) {
                .objectId(ObjectId(high: high, low: low))
            } else {
                nil
            }
        case .uuid:
            bytes(16).map { part in .uuid(UUID(uuid: part.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })) }
        case .decimal128:
            if let high = number(UInt64.self), let low = number(UInt64.self) {
                .decimal(Decimal128(highBits: high, lowBits: low))
            } else {
                nil
            }
        case .float, .link, .embedded, .array, .list, .linkingObjects: nil
        }
    }
}
