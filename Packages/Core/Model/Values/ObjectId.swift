public import Foundation

/// A 12-byte identifier: 4 bytes of seconds since 1970, 5 random bytes, and a 3-byte counter, as in
/// the BSON specification. Ordered by its bytes, in Swift, SQLite (BLOB) and PostgreSQL (bytea) alike.
public struct ObjectId: Hashable, Sendable, Comparable, CustomStringConvertible, Codable {
    /// The first eight bytes, big-endian.
    @usableFromInline package let high: UInt64
    /// The last four bytes, big-endian.
    @usableFromInline package let low: UInt32

    package init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// All zeros. Use ``generate()`` for a new unique identifier; `@Persisted var id: ObjectId` generates one itself.
    public init() { self.init(high: 0, low: 0) }

    /// Parses 24 hexadecimal digits.
    /// - Throws: ``ValueError``, which quotes the text, if it's anything else.
    public init(string: String) throws(ValueError) {
        guard let parsed = ObjectId(hex: string) else {
            throw ValueError(
                "'\(string)' is not an ObjectId: expected 24 hexadecimal digits, found \(string.utf8.count) bytes.")
        }
        self = parsed
    }

    /// 24 hexadecimal digits written in the source code; anything else stops the program.
    public init(_ literal: StaticString) {
        guard let parsed = ObjectId(hex: "\(literal)") else {
            programError("'\(literal)' is not an ObjectId, which has 24 hexadecimal digits.")
        }
        self = parsed
    }

    /// A new identifier with the given time.
    /// - Parameters:
    ///   - machineId: its low three bytes follow the time, as in the first version of the BSON specification.
    ///   - processId: its low two bytes follow; the last three bytes are random.
    public init(timestamp: Date, machineId: Int, processId: Int) {
        let seconds = UInt32(truncatingIfNeeded: Int64(timestamp.timeIntervalSince1970))
        let machine = UInt32(truncatingIfNeeded: machineId) & 0xff_ffff
        let process = UInt32(truncatingIfNeeded: processId) & 0xffff
        self.init(
            high: UInt64(seconds) << 32 | UInt64(machine << 8 | process >> 8),
            low: (process & 0xff) << 24 | UInt32.random(in: 0...0xff_ffff))
    }

    /// Reads 12 bytes; nil for any other number of bytes.
    public init?(bytes: some Collection<UInt8>) { self.init(bytes: Array(bytes)) }

    /// Reads 12 bytes; nil for any other number of bytes.
    public init?(bytes: [UInt8]) {
        guard let id = bytes.withUnsafeBytes({ ObjectId(bytes: $0) }) else { return nil }
        self = id
    }

    /// Reads 12 bytes; nil for any other number of bytes. Not generic, because it's used for every row that is read.
    public init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
    }

    private init?(hex: String) {
        var bytes: [UInt8] = []
        var pending: UInt8?
        for character in hex.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
            default: return nil
            }
            if let first = pending {
                bytes.append(first << 4 | digit)
                pending = nil
            } else {
                pending = digit
            }
        }
        guard pending == nil else { return nil }
        self.init(bytes: bytes)
    }

    /// The size of an identifier in bytes.
    public static let byteCount = 12

    /// A new identifier, unique without coordination.
    public static func generate() -> ObjectId {
        var generator = SystemRandomNumberGenerator()
        return generate(secondsSince1970: UInt32(truncatingIfNeeded: Int64(Date().timeIntervalSince1970)), &generator)
    }

    /// A new identifier from the given time and random number generator, for tests and simulations.
    public static func generate(
        secondsSince1970: UInt32, _ generator: inout some RandomNumberGenerator
    ) -> ObjectId {
        ObjectId(
            high: UInt64(secondsSince1970) << 32 | UInt64(UInt32.random(in: .min ... .max, using: &generator)),
            low: UInt32.random(in: .min ... .max, using: &generator))
    }

    /// The 12 bytes, in order.
    public var bytes: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(Self.byteCount)
        for shift in stride(from: 56, through: 0, by: -8) {
            result.append(UInt8(truncatingIfNeeded: high >> UInt64(shift)))
        }
        for shift in stride(from: 24, through: 0, by: -8) {
            result.append(UInt8(truncatingIfNeeded: low >> UInt32(shift)))
        }
        return result
    }

    /// Passes the 12 bytes without allocating an array. Valid only during `body`.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
            body(UnsafeRawBufferPointer(rebasing: $0[..<Self.byteCount]))
        }
    }

    /// 24 lowercase hexadecimal digits.
    public var stringValue: String { bytes.hexadecimal }
    public var description: String { stringValue }

    /// The seconds part of the identifier.
    public var timestamp: Date { Date(timeIntervalSince1970: TimeInterval(high >> 32)) }

    public static func < (left: ObjectId, right: ObjectId) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            self = try ObjectId(string: container.decode(String.self))
        } catch let error as ValueError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}

extension Collection<UInt8> {
    /// Two lowercase hexadecimal digits per byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
