internal import Foundation
internal import TomboloModel

/// FNV-1a over values, each with its kind and length, so that neighbours cannot be mistaken for each other.
struct StableHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

    mutating func add(_ number: Int64) {
        for shift in stride(from: 0, to: 64, by: 8) { add(byte: UInt8(truncatingIfNeeded: number >> Int64(shift))) }
    }

    mutating func add(bytes: some Collection<UInt8>) {
        add(Int64(bytes.count))
        for byte in bytes { add(byte: byte) }
    }

    mutating func add(_ text: String) { add(bytes: text.utf8) }

    mutating func add(_ value: Value) {
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
            // Both zeros are equal.
            add(Int64(bitPattern: (number == 0 ? 0 : number).bitPattern))
        case .string(let text):
            add(byte: 4)
            add(text)
        case .data(let data):
            add(byte: 5)
            add(bytes: data)
        case .date(let microseconds):
            add(byte: 6)
            add(microseconds)
        case .objectId(let id):
            add(byte: 7)
            add(bytes: id.bytes)
        case .uuid(let id):
            add(byte: 8)
            add(id.uuidString)
        case .decimal(let number):
            add(byte: 9)
            add(number.description)
        }
    }
}
