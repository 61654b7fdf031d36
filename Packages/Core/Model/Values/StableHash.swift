internal import Foundation

/// FNV-1a over exact values, each with its kind and length, so that adjacent values can't be confused. The result is
/// the same in every process and version, because servers and devices store these hashes.
///
/// Never hash text made for display: it's rounded and shortened, so different values would get the same hash.
package struct StableHash: Sendable {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

    package mutating func add(_ number: Int64) {
        for shift in stride(from: 0, to: 64, by: 8) { add(byte: UInt8(truncatingIfNeeded: number >> Int64(shift))) }
    }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(Int64(bytes.count))
        for byte in bytes { add(byte: byte) }
    }

    package mutating func add(bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    package mutating func add(_ value: Value) {
        switch value {
        case .null: add(byte: 0)
        case .bool(let flag):
            add(byte: 1)
            add(byte: flag ? 1 : 0)
        case .int(let number):
            add(byte: 2)
            add(number)
        case .double(let number):
            add(byte: 3)
            // 0 and -0 are equal.
            add(Int64(bitPattern: (number == 0 ? 0 : number).bitPattern))
        case .string(let text):
            add(byte: 4)
            add(text)
        case .data(let data):
            add(byte: 5)
            data.withUnsafeBytes { add($0) }
        case .date(let microseconds):
            add(byte: 6)
            add(microseconds)
        case .objectId(let id):
            add(byte: 7)
            id.withBytes { add($0) }
        case .uuid(let id):
            add(byte: 8)
            add(id.uuidString)
        case .decimal(let number):
            add(byte: 9)
            add(number.description)
        }
    }

    /// Adds a condition with its complete literals.
    package mutating func add(_ predicate: Predicate) {
        switch predicate {
        case .constant(let result):
            add(byte: 0)
            add(byte: result ? 1 : 0)
        case .compare(let path, let comparison, let literal):
            add(byte: 1)
            add(path)
            add(comparison.rawValue)
            add(literal)
        case .isIn(let path, let literals):
            add(byte: 2)
            add(path)
            add(Int64(literals.count))
            for literal in literals { add(literal) }
        case .text(let path, let test, let text, let ignoringCase):
            add(byte: 3)
            add(path)
            add(test.rawValue)
            add(text)
            add(byte: ignoringCase ? 1 : 0)
        case .and(let parts):
            add(byte: 4)
            add(Int64(parts.count))
            for part in parts { add(part) }
        case .or(let parts):
            add(byte: 5)
            add(Int64(parts.count))
            for part in parts { add(part) }
        case .not(let inner):
            add(byte: 6)
            add(inner)
        }
    }

    private mutating func add(_ path: PropertyPath) {
        add(Int64(path.names.count))
        for name in path.names { add(name) }
    }
}
