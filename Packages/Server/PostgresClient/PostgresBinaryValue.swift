import Foundation

/// One value as the server sent it, and its decoders. The bytes are borrowed.
struct PostgresBinaryValue {
    enum Failure: Error {
        case typeMismatch, malformed, outOfRange

        var reason: PostgresDecodingError.Reason {
            switch self {
            case .typeMismatch: .typeMismatch
            case .malformed: .malformed
            case .outOfRange: .outOfRange
            }
        }
    }

    let oid: UInt32
    let isBinary: Bool
    let bytes: UnsafeRawBufferPointer

    private func integer<T: FixedWidthInteger>(_ type: T.Type) throws(Failure) -> T {
        guard bytes.count == MemoryLayout<T>.size else { throw .malformed }
        return T(bigEndian: bytes.loadUnaligned(as: T.self))
    }

    private func parsed<T: LosslessStringConvertible>(_ type: T.Type) throws(Failure) -> T {
        guard let text = String(validating: bytes, as: UTF8.self), let value = T(text) else { throw .malformed }
        return value
    }

    func int64() throws(Failure) -> Int64 {
        switch oid {
        case PostgresOID.int8, PostgresOID.lsn, PostgresOID.xid8:
            if isBinary {
                guard oid == PostgresOID.int8 else {
                    guard let value = Int64(exactly: try integer(UInt64.self)) else { throw .outOfRange }
                    return value
                }
                return try integer(Int64.self)
            }
            guard oid != PostgresOID.lsn else { throw .typeMismatch }
        case PostgresOID.int4:
            if isBinary { return Int64(try integer(Int32.self)) }
        case PostgresOID.int2:
            if isBinary { return Int64(try integer(Int16.self)) }
        case PostgresOID.oid, PostgresOID.xid, PostgresOID.cid, PostgresOID.regclass:
            if isBinary { return Int64(try integer(UInt32.self)) }
            guard oid != PostgresOID.regclass else { throw .typeMismatch }
        default:
            throw .typeMismatch
        }
        return try parsed(Int64.self)
    }

    func bool() throws(Failure) -> Bool {
        guard oid == PostgresOID.bool else { throw .typeMismatch }
        guard bytes.count == 1 else { throw .malformed }
        switch (isBinary, bytes[0]) {
        case (true, 0), (false, UInt8(ascii: "f")): return false
        case (true, 1), (false, UInt8(ascii: "t")): return true
        default: throw .malformed
        }
    }

    func double() throws(Failure) -> Double {
        switch oid {
        case PostgresOID.float8:
            return isBinary ? Double(bitPattern: try integer(UInt64.self)) : try serverDouble()
        case PostgresOID.float4:
            return isBinary ? Double(Float(bitPattern: try integer(UInt32.self))) : try serverDouble()
        default:
            throw .typeMismatch
        }
    }

    /// PostgreSQL writes `NaN`, `Infinity` and `-Infinity`, which Swift can read.
    private func serverDouble() throws(Failure) -> Double {
        try parsed(Double.self)
    }

    func string() throws(Failure) -> String {
        var text = bytes
        switch oid {
        case PostgresOID.text, PostgresOID.varchar, PostgresOID.bpchar, PostgresOID.name, PostgresOID.json,
            PostgresOID.unknown, PostgresOID.xml, PostgresOID.char, PostgresOID.void:
            break
        case PostgresOID.jsonb:
            if isBinary {
                guard bytes.first == PostgresBinary.jsonbVersion else { throw .malformed }
                text = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            }
        case PostgresOID.numeric:
            if isBinary { return try PostgresNumeric.text(bytes) }
        case PostgresOID.firstUserDefined...:
            // Enums and textual extension types such as citext are sent as text.
            break
        default:
            if isBinary { throw .typeMismatch }
        }
        guard let value = String(validating: text, as: UTF8.self) else { throw .malformed }
        return value
    }

    func scientific() throws(Failure) -> String {
        guard oid == PostgresOID.numeric, isBinary else { throw .typeMismatch }
        guard let text = PostgresNumeric.scientific(bytes) else { throw .malformed }
        return text
    }

    func byteArray() throws(Failure) -> [UInt8] {
        guard oid == PostgresOID.bytea else { throw .typeMismatch }
        if isBinary { return [UInt8](bytes) }
        guard bytes.count >= 2, bytes.count % 2 == 0, bytes[0] == UInt8(ascii: "\\"), bytes[1] == UInt8(ascii: "x")
        else { throw .malformed }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count / 2 - 1)
        for index in stride(from: 2, to: bytes.count, by: 2) {
            guard let high = Character(UnicodeScalar(bytes[index])).hexDigitValue,
                let low = Character(UnicodeScalar(bytes[index + 1])).hexDigitValue
            else { throw .malformed }
            result.append(UInt8(high << 4 | low))
        }
        return result
    }

    func uuid() throws(Failure) -> UUID {
        guard oid == PostgresOID.uuid else { throw .typeMismatch }
        if isBinary {
            guard bytes.count == MemoryLayout<uuid_t>.size else { throw .malformed }
            return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
        guard let text = String(validating: bytes, as: UTF8.self), let value = UUID(uuidString: text) else {
            throw .malformed
        }
        return value
    }

    /// A `timestamp` without time zone is taken as UTC.
    func timestampMicroseconds() throws(Failure) -> Int64 {
        guard isBinary, oid == PostgresOID.timestamptz || oid == PostgresOID.timestamp else { throw .typeMismatch }
        guard let value = PostgresTime.decode(try integer(Int64.self)) else { throw .outOfRange }
        return value
    }

    /// Calls `body` for each element of a one-dimensional array, in order; `nil` is NULL.
    func elements<Element>(
        _ decode: (PostgresBinaryValue) throws(Failure) -> Element
    ) throws(Failure) -> [Element?] {
        guard isBinary else { throw .typeMismatch }
        guard bytes.count >= 12 else { throw .malformed }
        func int32(_ offset: Int) -> Int {
            Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
        }
        let dimensions = int32(0)
        let elementOID = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        if dimensions == 0 { return [] }
        guard dimensions == 1 else { throw .typeMismatch }
        guard bytes.count >= 20 else { throw .malformed }
        let count = int32(12)
        var offset = 20
        // Each element takes at least its length.
        guard count >= 0, count <= (bytes.count - offset) / 4 else { throw .malformed }
        var result: [Element?] = []
        result.reserveCapacity(count)
        for _ in 0..<count {
            guard offset + 4 <= bytes.count else { throw .malformed }
            let length = int32(offset)
            offset += 4
            if length < 0 {
                result.append(nil)
                continue
            }
            guard offset + length <= bytes.count else { throw .malformed }
            let slice = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
            result.append(try decode(PostgresBinaryValue(oid: elementOID, isBinary: true, bytes: slice)))
            offset += length
        }
        guard offset == bytes.count else { throw .malformed }
        return result
    }

    /// The value as PostgreSQL would print it, for types with a simple form.
    func text() throws(Failure) -> String {
        guard isBinary else {
            guard let value = String(validating: bytes, as: UTF8.self) else { throw .malformed }
            return value
        }
        switch oid {
        case PostgresOID.bool: return try bool() ? "t" : "f"
        case PostgresOID.int2, PostgresOID.int4, PostgresOID.int8, PostgresOID.oid, PostgresOID.xid,
            PostgresOID.cid, PostgresOID.xid8:
            return String(try int64())
        case PostgresOID.float4:
            let value = Float(try double())
            return value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : value.isNaN ? "NaN" : "\(value)"
        case PostgresOID.float8:
            let value = try double()
            return value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : value.isNaN ? "NaN" : "\(value)"
        case PostgresOID.uuid: return try uuid().uuidString.lowercased()
        case PostgresOID.bytea:
            let digits = Array("0123456789abcdef".utf8)
            var hex = Array("\\x".utf8)
            hex.reserveCapacity(2 + bytes.count * 2)
            for byte in bytes {
                hex.append(digits[Int(byte >> 4)])
                hex.append(digits[Int(byte & 15)])
            }
            return String(decoding: hex, as: UTF8.self)
        default: return try string()
        }
    }
}
