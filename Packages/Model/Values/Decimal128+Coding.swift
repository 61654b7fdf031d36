extension Decimal128: Codable {
    /// From text, or from a number.
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
                in: container, debugDescription: "A Decimal128 is written as text or as a number.")
        }
    }

    /// As text, which keeps every digit.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Decimal128 {
    /// The length of the binary form.
    package static let byteCount = 16

    /// From the 16 bytes of the standard's binary integer encoding (BID), the last bits of the coefficient first, as
    /// in BSON; `nil` for any other count of bytes. Every 16 bytes are a number.
    package init?(bid bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        let bits = bytes.reversed().reduce(into: 0 as UInt128) { bits, byte in bits = bits << 8 | UInt128(byte) }
        self.init(
            highBits: UInt64(truncatingIfNeeded: bits >> 64), lowBits: UInt64(truncatingIfNeeded: bits))
    }

    /// The 16 bytes that ``init(bid:)`` reads.
    package var bidBytes: [UInt8] {
        [low, high].flatMap { part in
            (0..<8).map { UInt8(truncatingIfNeeded: part >> UInt64($0 * 8)) }
        }
    }
}
