internal import Foundation
internal import TomboloModel

/// Writes the fields of Protocol Buffers messages one after another, without building messages in memory.
/// <https://protobuf.dev/programming-guides/encoding/>
struct WireWriter: Sendable {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    // MARK: Fields. Their numbers are at most 15, so that a key takes one byte.

    @inline(__always)
    mutating func key(_ number: UInt8, _ type: WireReader.FieldType) {
        bytes.append(number << 3 | UInt8(truncatingIfNeeded: type.rawValue))
    }

    @inline(__always)
    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Writes a `uint32`, unless it's 0.
    mutating func field(_ number: UInt8, ifNotZero value: Int) {
        if value == 0 { return }
        key(number, .varint)
        varint(UInt64(value))
    }

    /// Writes a `sint64`, unless it's 0.
    mutating func field(_ number: UInt8, ifNotZero value: Int64) {
        if value == 0 { return }
        key(number, .varint)
        varint(Self.zigzag(value))
    }

    mutating func field(_ number: UInt8, _ content: [UInt8]) {
        key(number, .bytes)
        varint(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    mutating func field(_ number: UInt8, _ text: String) {
        key(number, .bytes)
        append(text)
    }

    private static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

    /// The number of bytes in a varint.
    private static func length(_ value: UInt64) -> Int { (64 - (value | 1).leadingZeroBitCount + 6) / 7 }

    /// Appends a string, preceded by its length.
    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { text in
            varint(UInt64(text.count))
            bytes.append(contentsOf: text)
        }
    }

    // MARK: Nested messages

    /// Begins a message whose length isn't known yet.
    /// - Returns: the start of its content, to pass to ``close(_:)``.
    @inline(__always)
    mutating func open(_ number: UInt8) -> Int {
        key(number, .bytes)
        // One byte for the length, which is enough for most messages.
        bytes.append(0)
        return bytes.count
    }

    @inline(__always)
    mutating func close(_ start: Int) {
        let length = bytes.count - start
        if length < 0x80 { bytes[start - 1] = UInt8(truncatingIfNeeded: length) } else { makeRoom(length, start) }
    }

    private mutating func makeRoom(_ length: Int, _ start: Int) {
        var prefix = WireWriter()
        prefix.varint(UInt64(length))
        bytes.replaceSubrange((start - 1)..<start, with: prefix.bytes)
    }

    /// Prepends another writer's bytes.
    mutating func prepend(_ other: WireWriter) { bytes.insert(contentsOf: other.bytes, at: 0) }

    /// Appends part of another writer's bytes.
    mutating func append(_ other: ArraySlice<UInt8>) { bytes.append(contentsOf: other) }

    // MARK: Values

    /// Writes a `Value` message.
    mutating func field(_ number: UInt8, _ value: Value) {
        key(number, .bytes)
        switch value {
        case .null: flag(1, true)
        case .bool(let flag): self.flag(2, flag)
        case .int(let number): self.number(3, number)
        case .double(let number):
            bytes.append(9)
            key(4, .fixed64)
            withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
        case .string(let text): self.text(text)
        case .data(let data):
            content(6, data.count)
            bytes.append(contentsOf: data)
        case .date(let microseconds): self.number(7, microseconds)
        case .objectId(let id):
            content(8, ObjectId.byteCount)
            withUnsafeBytes(of: id.high.bigEndian) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: id.low.bigEndian) { bytes.append(contentsOf: $0) }
        case .uuid(let id):
            content(9, 16)
            withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
        case .decimal(let number):
            content(10, Decimal128.byteCount)
            number.withBIDBytes { bytes.append(contentsOf: $0) }
        }
    }

    private mutating func flag(_ number: UInt8, _ isSet: Bool) {
        bytes.append(2)
        key(number, .varint)
        bytes.append(isSet ? 1 : 0)
    }

    private mutating func number(_ number: UInt8, _ value: Int64) {
        let bits = Self.zigzag(value)
        bytes.append(UInt8(truncatingIfNeeded: 1 + Self.length(bits)))
        key(number, .varint)
        varint(bits)
    }

    private mutating func text(_ text: String) {
        var text = text
        text.withUTF8 { text in
            content(5, text.count)
            bytes.append(contentsOf: text)
        }
    }

    /// Begins a value of `count` bytes. The caller appends the bytes.
    private mutating func content(_ number: UInt8, _ count: Int) {
        varint(UInt64(1 + Self.length(UInt64(count)) + count))
        key(number, .bytes)
        varint(UInt64(count))
    }
}
