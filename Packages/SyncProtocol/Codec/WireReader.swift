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

    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next field's number and type; nil at the end of the bytes, and for what is no field.
    mutating func key() -> Key? {
        guard let value = varint(), value <= UInt64(UInt32.max), let type = FieldType(rawValue: value & 7) else {
            return nil
        }
        return Key(number: value >> 3, type: type)
    }

    mutating func varint() -> UInt64? {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count, shift < 64 {
            let byte = bytes[position]
            position += 1
            result |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
        return nil
    }

    /// Goes back to a position that was read before.
    mutating func rewind(to position: Int) { self.position = position }

    /// Moves on; false where there are not so many bytes.
    mutating func skip(_ count: UInt64) -> Bool {
        guard count <= UInt64(bytes.count - position) else { return false }
        position += Int(count)
        return true
    }
}
