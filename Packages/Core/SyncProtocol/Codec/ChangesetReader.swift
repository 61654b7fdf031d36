internal import Foundation
internal import TomboloChangesets
internal import TomboloModel

/// Reads changesets in the form in which ``ChangesetWriter`` writes them, directly from their bytes. Building a
/// Protocol Buffers message for each part would cost several times as much. Returns nil for any other form and for any
/// mistake; the caller then builds the messages and finds out what is wrong.
///
/// The shape of the bytes has already been checked; see ``WireShape``.
struct ChangesetReader {
    private typealias Key = WireReader.Key

    private enum Keys {
        static let number = Key(number: 1, type: .varint)
        static let base = Key(number: 2, type: .varint)
        static let stamp = Key(number: 3, type: .varint)
        static let changesetClass = Key(number: 4, type: .bytes)
        static let instruction = Key(number: 5, type: .bytes)
        static let traceparent = Key(number: 6, type: .bytes)
        static let name = Key(number: 1, type: .bytes)
        static let column = Key(number: 2, type: .bytes)
        static let classPosition = Key(number: 1, type: .varint)
        static let objectKey = Key(number: 2, type: .bytes)
        static let create = Key(number: 3, type: .bytes)
        static let set = Key(number: 4, type: .bytes)
        static let add = Key(number: 5, type: .bytes)
        static let erase = Key(number: 6, type: .varint)
        static let columns = Key(number: 1, type: .bytes)
        static let value = Key(number: 2, type: .bytes)
        static let defaults = Key(number: 3, type: .bytes)
        static let additionColumn = Key(number: 1, type: .varint)
        static let amount = Key(number: 2, type: .varint)
    }

    /// The maximum number of instructions for which space is reserved. Their number is only estimated from the first
    /// one's size.
    private static let maximumReservedCount = 4_096

    private struct NamedClass {
        let index: Int
        let item: ClassSchema
        let key: Column
        let columns: [Int]
    }

    private let bytes: [UInt8]
    private let schema: Schema
    /// Whether values must fit their columns, as on a device. A server checks that later.
    private let validates: Bool
    /// The previous changeset's classes and the range of their bytes. The next changeset usually has equal bytes there.
    private var classes: [NamedClass] = []
    private var classRange = 0..<0

    init(_ bytes: [UInt8], schema: Schema, validates: Bool) {
        self.bytes = bytes
        self.schema = schema
        self.validates = validates
    }

    mutating func changeset(_ range: Range<Int>) -> Changeset? {
        var reader = WireReader(bytes, in: range)
        guard reader.key() == Keys.number, let number = reader.signed(), number > 0 else { return nil }
        var base: Int64 = 0
        var stamp: Int64 = 0
        var next = reader.nextKey()
        if next == Keys.base {
            guard let value = reader.signed(), value >= 0 else { return nil }
            base = value
            next = reader.nextKey()
        }
        if next == Keys.stamp {
            guard let value = reader.signed() else { return nil }
            stamp = value
            next = reader.nextKey()
        }
        guard next == Keys.changesetClass || reader.isAtEnd && next == nil else { return nil }
        // The key of the first class takes one byte.
        let start = next == nil ? reader.position : reader.position - 1
        var end = start
        while next == Keys.changesetClass {
            guard reader.content() != nil else { return nil }
            end = reader.position
            next = reader.nextKey()
        }
        guard resolve(start..<end) else { return nil }
        var instructions: [Instruction] = []
        while next == Keys.instruction {
            guard let content = reader.content(), let instruction = instruction(content) else { return nil }
            if instructions.isEmpty {
                let likely = 1 + (range.upperBound - reader.position) / (content.count + 2)
                instructions.reserveCapacity(min(likely, Self.maximumReservedCount))
            }
            instructions.append(instruction)
            next = reader.nextKey()
        }
        var result = Changeset(
            number: number, base: base, stamp: Stamp(microseconds: stamp), instructions: instructions)
        if next == Keys.traceparent {
            guard let content = reader.content(), let text = text(content) else { return nil }
            result.traceparent = MessageCodec.traceparent(text)
            next = reader.nextKey()
        }
        return next == nil && reader.isAtEnd ? result : nil
    }

    // MARK: Names

    /// Looks up the names of classes and properties, unless they equal those of the previous changeset.
    /// - Returns: false if the schema lacks a name or the bytes have another form.
    private mutating func resolve(_ range: Range<Int>) -> Bool {
        if !classRange.isEmpty, bytes[range] == bytes[classRange] { return true }
        var reader = WireReader(bytes, in: range)
        classes = []
        classRange = range
        while !reader.isAtEnd {
            guard reader.key() == Keys.changesetClass, let content = reader.content(), let item = namedClass(content)
            else {
                classRange = 0..<0
                return false
            }
            classes.append(item)
        }
        return true
    }

    private func namedClass(_ range: Range<Int>) -> NamedClass? {
        var reader = WireReader(bytes, in: range)
        guard reader.key() == Keys.name, let content = reader.content(), let name = text(content),
            let index = schema.index(of: name), let key = schema[index].primaryKey
        else { return nil }
        let item = schema[index]
        var columns: [Int] = []
        while let next = reader.nextKey() {
            guard next == Keys.column, let content = reader.content(), let name = text(content),
                let column = item.columnIndex(name)
            else { return nil }
            columns.append(column)
        }
        return reader.isAtEnd ? NamedClass(index: index, item: item, key: key, columns: columns) : nil
    }

    // MARK: Instructions

    private func instruction(_ range: Range<Int>) -> Instruction? {
        var reader = WireReader(bytes, in: range)
        var next = reader.key()
        var position = 0
        if next == Keys.classPosition {
            guard let value = reader.varint(), value < UInt64(classes.count) else { return nil }
            position = Int(value)
            next = reader.key()
        }
        guard next == Keys.objectKey, position < classes.count, let content = reader.content(),
            let key = value(content), (try? classes[position].key.validate(key)) != nil,
            let operation = reader.key()
        else { return nil }
        let names = classes[position]
        let reference = ObjectReference(classIndex: names.index, key: key)
        let result: Instruction
        switch operation {
        case Keys.create, Keys.set:
            guard let content = reader.content(), let fields = fields(content, names) else { return nil }
            result = operation == Keys.create ? .create(reference, fields) : .set(reference, fields)
        case Keys.add:
            guard let content = reader.content(), let addition = addition(content, names) else { return nil }
            result = .add(reference, column: addition.column, amount: addition.amount)
        case Keys.erase:
            guard reader.varint() == 1 else { return nil }
            result = .erase(reference)
        default: return nil
        }
        return reader.isAtEnd ? result : nil
    }

    private func addition(_ range: Range<Int>, _ names: NamedClass) -> (column: Int, amount: Int64)? {
        var reader = WireReader(bytes, in: range)
        var position = 0
        var amount: Int64 = 0
        var next = reader.nextKey()
        if next == Keys.additionColumn {
            guard let value = reader.varint(), value < UInt64(names.columns.count) else { return nil }
            position = Int(value)
            next = reader.nextKey()
        }
        if next == Keys.amount {
            guard let value = reader.signed() else { return nil }
            amount = value
            next = reader.nextKey()
        }
        guard next == nil, reader.isAtEnd, position < names.columns.count else { return nil }
        let column = names.columns[position]
        if validates { guard case .int = names.item.columns[column].type else { return nil } }
        return (column, amount)
    }

    private func fields(_ range: Range<Int>, _ names: NamedClass) -> [FieldWrite]? {
        var reader = WireReader(bytes, in: range)
        if reader.isAtEnd { return [] }
        guard reader.key() == Keys.columns, let packed = reader.content() else { return nil }
        var positions = WireReader(bytes, in: packed)
        var result: [FieldWrite] = []
        // Most positions take one byte.
        result.reserveCapacity(min(packed.count, MessageCodec.maximumPropertyCount))
        while !positions.isAtEnd {
            guard let position = positions.varint(), position < UInt64(names.columns.count),
                reader.key() == Keys.value, let content = reader.content(), let value = value(content)
            else { return nil }
            let column = names.columns[Int(position)]
            if validates {
                let definition = names.item.columns[column]
                guard (try? definition.validate(value, linkKeyType: schema.keyType(ofLink: definition))) != nil else {
                    return nil
                }
            }
            result.append(FieldWrite(column: column, value: value))
        }
        if reader.isAtEnd { return result }
        guard reader.key() == Keys.defaults, let bits = reader.content(), reader.isAtEnd else { return nil }
        for (index, field) in result.enumerated() where index >> 3 < bits.count {
            guard bytes[bits.lowerBound + index >> 3] & (1 << UInt8(index & 7)) != 0 else { continue }
            result[index] = FieldWrite(column: field.column, value: field.value, isDefault: true)
        }
        return result
    }

    // MARK: Values

    private func value(_ range: Range<Int>) -> Value? {
        var reader = WireReader(bytes, in: range)
        guard let key = reader.key() else { return nil }
        let result: Value
        switch (key.number, key.type) {
        case (1, .varint):
            guard reader.varint() == 1 else { return nil }
            result = .null
        case (2, .varint):
            guard let value = reader.varint(), value <= 1 else { return nil }
            result = .bool(value == 1)
        case (3, .varint):
            guard let value = reader.signed() else { return nil }
            result = .int(value)
        case (7, .varint):
            guard let value = reader.signed(), Value.dateRange.contains(value) else { return nil }
            result = .date(value)
        case (5, .bytes):
            guard let content = reader.content(), let text = text(content) else { return nil }
            result = .string(text)
        case (6, .bytes):
            guard let content = reader.content() else { return nil }
            result = .data(Data(bytes[content]))
        case (8, .bytes):
            guard let content = reader.content(), let id = objectId(content) else { return nil }
            result = .objectId(id)
        case (9, .bytes):
            guard let content = reader.content(), content.count == 16 else { return nil }
            result = .uuid(
                UUID(
                    uuid: bytes.withUnsafeBytes {
                        $0.loadUnaligned(fromByteOffset: content.lowerBound, as: uuid_t.self)
                    }))
        case (4, .fixed64):
            guard let value = reader.fixed64().map(Double.init(bitPattern:)), !value.isNaN else { return nil }
            result = .double(value)
        // Decimals are rare.
        default: return nil
        }
        return reader.isAtEnd ? result : nil
    }

    private func objectId(_ range: Range<Int>) -> ObjectId? {
        bytes.withUnsafeBytes { ObjectId(bytes: UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    private func text(_ range: Range<Int>) -> String? {
        bytes.withUnsafeBufferPointer { String(validating: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self) }
    }
}
