internal import Foundation
public import TomboloModel

/// Random values of every type, with many edge cases.
public struct RandomValues: Sendable {
    public var generator: SeededGenerator

    public init(_ generator: SeededGenerator) { self.generator = generator }

    public mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    /// True once in `oneIn` times on average.
    public mutating func flag(_ oneIn: Int = 2) -> Bool { int(1...oneIn) == 1 }

    public mutating func pick<T>(_ values: [T]) -> T { values[int(0...values.count - 1)] }

    public mutating func number() -> Int64 {
        switch int(0...3) {
        case 0: pick([0, 1, -1, .max, .min])
        case 1: Int64(int(-100...100))
        default: Int64.random(in: .min ... .max, using: &generator)
        }
    }

    public mutating func text() -> String {
        let letters = ["a", "B", "é", "e\u{301}", "ß", "👩‍🚀", "\u{1}", " ", "%", "'", "\"", "\\", "\u{10ffff}"]
        return (0..<int(0...8)).map { _ in pick(letters) }.joined()
    }

    /// Prices, edges of the range, NaN and infinities, or any 128 bits.
    public mutating func decimal() -> Decimal128 {
        let edges: [Decimal128] = [
            0, "-0", "0.00", "0E+3", "1.50", "1.5", "1E+3", "-1000", "0.01", "1E-6176", "-1E-6176", "1E+6144",
            "10.00000000000000000000000000000000", "1234567890123456789012345678901234E-40", .min, .max, .nan,
            .infinity,
            -.infinity,
        ]
        switch int(0...2) {
        case 0: return pick(edges)
        case 1: return Decimal128(int(-1_000_000...1_000_000)) / 100
        default: return Decimal128(highBits: generator.next(), lowBits: generator.next())
        }
    }

    /// - Parameter type: a stored type. Links and lists have no values of their own, so they give null.
    public mutating func value(_ type: PropertyType) -> Value {
        switch type {
        case .bool: return .bool(flag())
        case .int(let bits):
            guard bits < 64 else { return .int(number()) }
            let limit = 1 << (bits - 1)
            return .int(Int64(flag(4) ? pick([-limit, limit - 1, 0]) : int(-limit...limit - 1)))
        case .double:
            let edges = [0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1]
            return .double(flag() ? pick(edges) : Double.random(in: -1e9...1e9, using: &generator))
        case .string: return .string(text())
        case .data: return .data(Data((0..<int(0...9)).map { _ in UInt8(int(0...255)) }))
        case .date:
            let (first, last) = (Value.dateRange.lowerBound, Value.dateRange.upperBound)
            return .date(flag(4) ? pick([first, last, 0, -1]) : Int64.random(in: first...last, using: &generator))
        case .objectId: return .objectId(.generate(secondsSince1970: UInt32(int(0...9)), &generator))
        case .uuid:
            let bits = (generator.next(), generator.next())
            return .uuid(UUID(uuid: withUnsafeBytes(of: bits) { $0.load(as: uuid_t.self) }))
        case .decimal128: return .decimal(decimal())
        case .float, .link, .embedded, .array, .list, .linkingObjects: return .null
        }
    }
}
