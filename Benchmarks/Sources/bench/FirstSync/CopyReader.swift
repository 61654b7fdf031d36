/// Reads rows in PostgreSQL's binary COPY format (manual, COPY): a header of 19 bytes, then for each row an Int16
/// count of fields and for each field an Int32 length and its bytes. A count of -1 marks the end.
struct CopyReader {
    private static let headerByteCount = 19

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    init(bytes: UnsafeRawBufferPointer, skipsHeader: Bool) {
        self.bytes = bytes
        offset = skipsHeader ? Self.headerByteCount : 0
    }

    /// Whether another row begins.
    mutating func nextRow(fieldCount: Int) throws -> Bool {
        guard offset < bytes.count else { return false }
        let found = Int(try integer(Int16.self))
        if found == -1 { return false }
        guard found == fieldCount else { throw BenchError("COPY sent a row of \(found) fields.") }
        return true
    }

    mutating func field(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let length = Int(try integer(Int32.self))
        guard length >= 0, offset + length <= bytes.count else { throw BenchError("COPY sent NULL or half a row.") }
        try body(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]))
        offset += length
    }

    static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        bytes.count == 8 ? Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) : 0
    }

    private mutating func integer<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) throws -> Number {
        let size = MemoryLayout<Number>.size
        guard offset + size <= bytes.count else { throw BenchError("COPY sent half a row.") }
        defer { offset += size }
        return Number(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
    }
}
