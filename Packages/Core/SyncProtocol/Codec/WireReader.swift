/// Walks over the fields of a Protocol Buffers message without decoding them.
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

    /// One field, by positions in the bytes.
    struct Field {
        let key: Key
        /// The offset of its key.
        let start: Int
        /// The bytes after the key, and after the length for a field of bytes.
        let content: Range<Int>
    }

    static let maximumVarintByteCount = 10

    private let bytes: [UInt8]
    private let end: Int
    private(set) var position: Int

    init(_ bytes: [UInt8]) { self.init(bytes, in: bytes.indices) }

    /// Walks over a nested message.
    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position >= end }

    /// The number and type of the next field, or nil at the end of the bytes and for anything that isn't a field.
    mutating func key() -> Key? {
        guard let value = varint(), value <= UInt64(UInt32.max), let type = FieldType(rawValue: value & 7) else {
            return nil
        }
        return Key(number: value >> 3, type: type)
    }

    /// The same; if it's nil, nothing was read.
    mutating func nextKey() -> Key? {
        let start = position
        guard let key = key() else {
            position = start
            return nil
        }
        return key
    }

    /// A `sint64`.
    mutating func signed() -> Int64? {
        varint().map { Int64(bitPattern: $0 >> 1) ^ -Int64($0 & 1) }
    }

    /// Eight bytes, least first.
    mutating func fixed64() -> UInt64? {
        let start = position
        guard skip(8) else { return nil }
        return bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
    }

    /// The length of a field of bytes, and the bytes.
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

    /// The next field with its content, or nil at the end of the bytes and for anything that isn't a field.
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

    /// Skips bytes, or returns false if there are fewer.
    private mutating func skip(_ count: UInt64) -> Bool {
        guard count <= UInt64(end - position) else { return false }
        position += Int(count)
        return true
    }
}
