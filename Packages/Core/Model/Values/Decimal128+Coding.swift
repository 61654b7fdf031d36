extension Decimal128: Codable {
    /// Decodes a string or a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            do {
                try self.init(string: text)
            } catch {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
            }
        } else if let number = try? container.decode(Int64.self) {
            self.init(number)
        } else if let number = try? container.decode(Double.self) {
            self.init(number)
        } else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "A Decimal128 must be a string or a number.")
        }
    }

    /// Encodes as a string, which keeps every digit.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Decimal128 {
    /// The length of the binary form in bytes.
    package static let byteCount = 16

    /// Reads the 16 bytes of the standard's binary integer encoding (BID), little-endian as in BSON. Returns nil for
    /// any other number of bytes; any 16 bytes are a valid number.
    package init?(bid bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(
            highBits: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            lowBits: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)))
    }

    /// Like ``init(bid:)``, but also returns nil for bytes that aren't the number's canonical encoding.
    package init?(canonicalBID bytes: UnsafeRawBufferPointer) {
        self.init(bid: bytes)
        guard withBIDBytes({ $0.elementsEqual(bytes) }) else { return nil }
    }

    /// Calls `body` with the 16 bytes that ``init(bid:)`` reads.
    package func withBIDBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(of: (low.littleEndian, high.littleEndian), body)
    }
}
