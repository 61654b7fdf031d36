/// Iterates over the fields of a Protocol Buffers message without decoding them.
/// <https://protobuf.dev/programming-guides/encoding/>
struct WireReader {
    enum FieldType: UInt64 {
        case varint = 0
        case fixed64 = 1
        case bytes = 2
        case fixed32 = 5
    }

    struct Key: Equatable {
        let number: UInt64
        let type: FieldType
    }

    /// One field, as positions in the bytes.
    struct Field {
        let key: Key
        /// The offset of its key.
        let start: Int
        /// The bytes after the key; in a field with a length, the bytes after the length.
        let content: Range<Int>
    }

    static let maximumVarintByteCount = 10

    private let bytes: [UInt8]
    private let end: Int
    private(set) var position: Int

    init(_ bytes: [UInt8]) { self.init(bytes, in: bytes.indices) }

    /// Reads a nested message.
    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position >= end }

    /// The number and type of the next field. Nil at the end of the bytes and for anything that isn't a field.
    mutating func key() -> Key? {
        guard let value = varint(), value <= UInt64(UInt32.max), let type = FieldType(rawValue: value & 7) else {
            return nil
        }
        return Key(number: value >> 3, type: type)
    }

    /// Like ``key()``, but if it returns nil, it has read nothing.
    mutating func nextKey() -> Key? {
        let start = position
        guard let key = key() else {
            position = start
            return nil
        }
        return key
    }

    /// Reads a `sint64`.
    mutating func signed() -> Int64? {
        varint().map { Int64(bitPattern: $0 >> 1) ^ -Int64($0 & 1) }
    }

    /// Reads eight bytes, least significant first.
    mutating func fixed64() -> UInt64? {
        let start = position
        guard skip(8) else { return nil }
        return bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
    }

    /// Reads a length and skips as many bytes.
    /// - Returns: the range of these bytes.
    mutating func content() -> Range<Int>? {
        guard let length = varint() else { return nil }
        let start = position
        return skip(length) ? start..<position : nil
    }

    mutating func varint() -> UInt64? {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while position < end, shift < 64 {
            let byte = bytes[position]
            position += 1
            result |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
        return nil
    }

    /// The next field with its content. Nil at the end of the bytes and for anything that isn't a field.
    mutating func field() -> Field? {
        let start = position
        guard let key = key() else { return nil }
        var from = position
        switch key.type {
        case .varint: if varint() == nil { return nil }
        case .fixed64: if !skip(8) { return nil }
        case .fixed32: if !skip(4) { return nil }
        case .bytes:
            guard let content = content() else { return nil }
            from = content.lowerBound
        }
        return Field(key: key, start: start, content: from..<position)
    }

    /// Returns to an earlier position.
    mutating func rewind(to position: Int) { self.position = position }

    /// Skips bytes. Returns false if there are too few.
    private mutating func skip(_ count: UInt64) -> Bool {
        guard count <= UInt64(end - position) else { return false }
        position += Int(count)
        return true
    }
}
