/// Writes Protocol Buffers fields by hand, for messages that our encoder never makes.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    static func message(_ build: (inout ProtobufWriter) -> Void) -> [UInt8] {
        var writer = ProtobufWriter()
        build(&writer)
        return writer.bytes
    }

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func field(_ number: Int, _ value: UInt64) {
        varint(UInt64(number) << 3)
        varint(value)
    }

    mutating func field(_ number: Int, _ content: [UInt8]) {
        varint(UInt64(number) << 3 | 2)
        varint(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    mutating func field(_ number: Int, _ text: String) { field(number, Array(text.utf8)) }

    mutating func field(_ number: Int, _ build: (inout ProtobufWriter) -> Void) {
        field(number, ProtobufWriter.message(build))
    }
}
