import CLibPQ
import Foundation

/// Lays out a statement's parameters for libpq. Its buffers are reused for the next statement.
struct PostgresParameterEncoder {
    /// The protocol's limit (Int16, unsigned).
    static let parameterLimit = 65_535

    private var bytes: [UInt8] = []
    private var offsets: [Int] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []
    private var oids: [Oid] = []
    private var pointers: [UnsafePointer<CChar>?] = []

    private static let nullOffset = -1
    /// Buffers larger than this, in bytes, are freed after use.
    private static let keptCapacity = 1 << 20

    mutating func encode(_ parameters: [PostgresParameter]) throws {
        bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
        offsets.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        formats.removeAll(keepingCapacity: true)
        oids.removeAll(keepingCapacity: true)
        for parameter in parameters {
            let start = bytes.count
            var format: Int32 = 1
            var isNull = false
            switch parameter.storage {
            case .null: isNull = true
            case .bool(let value): bytes.append(value ? 1 : 0)
            case .int16(let value): bytes.appendBigEndian(value)
            case .int32(let value): bytes.appendBigEndian(value)
            case .int64(let value): bytes.appendBigEndian(value)
            case .double(let value): bytes.appendBigEndian(value.bitPattern)
            case .string(let value): bytes.append(contentsOf: value.utf8)
            case .jsonb(let value):
                bytes.append(PostgresBinary.jsonbVersion)
                bytes.append(contentsOf: value.utf8)
            case .bytes(let value): bytes.append(contentsOf: value)
            case .data(let value): bytes.append(contentsOf: value)
            case .uuid(let value): withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
            case .textFormat(let value):
                format = 0
                bytes.append(contentsOf: value.utf8)
                // libpq would cut the value there.
                if bytes[start...].contains(0) {
                    throw PostgresError(
                        code: .characterNotInRepertoire,
                        message: "parameter $\(offsets.count + 1) contains the character U+0000",
                        hint: "PostgreSQL's text can't hold it: remove it, or use bytea.")
                }
            }
            offsets.append(isNull ? Self.nullOffset : start)
            lengths.append(Int32(clamping: bytes.count - start))
            // libpq reads values in text form up to a zero byte.
            if format == 0 { bytes.append(0) }
            formats.append(format)
            oids.append(parameter.oid)
        }
        // An empty value must not be a null pointer, which would mean NULL.
        if bytes.isEmpty { bytes.append(0) }
    }

    /// The number of bytes that the values take.
    var byteCount: Int {
        bytes.count
    }

    /// libpq copies everything before `body`'s call to it returns.
    mutating func withArguments(
        _ body: (
            _ count: Int32, _ oids: UnsafePointer<Oid>?, _ values: UnsafePointer<UnsafePointer<CChar>?>?,
            _ lengths: UnsafePointer<Int32>?, _ formats: UnsafePointer<Int32>?
        ) -> Int32
    ) -> Int32 {
        bytes.withUnsafeBytes { raw in
            pointers.removeAll(keepingCapacity: true)
            let base = raw.bindMemory(to: CChar.self).baseAddress
            for offset in offsets {
                pointers.append(offset == Self.nullOffset ? nil : base.map { $0 + offset })
            }
            return pointers.withUnsafeBufferPointer { values in
                oids.withUnsafeBufferPointer { oids in
                    lengths.withUnsafeBufferPointer { lengths in
                        formats.withUnsafeBufferPointer { formats in
                            body(
                                Int32(values.count), oids.baseAddress, values.baseAddress, lengths.baseAddress,
                                formats.baseAddress)
                        }
                    }
                }
            }
        }
    }
}
