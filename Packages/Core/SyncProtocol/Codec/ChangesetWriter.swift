internal import SwiftProtobuf
public import TomboloChangesets
public import TomboloModel

/// Writes the bytes of a changeset while its instructions come, so that a large one is never in memory as instructions.
/// The bytes are those of ``MessageCodec/encode(_:)-(Changeset)``.
public struct ChangesetWriter: Sendable {
    private let codec: MessageCodec
    private var names: ChangesetNames
    private var writer = WireWriter()
    /// Where each instruction begins.
    private var starts: [Int] = []
    /// What takes the place of an instruction.
    private var replacements: [Int: WireWriter] = [:]

    /// As ``MessageCodec/maximumFieldCount`` counts them, those of the instructions only.
    private var instructionFieldCount = 0

    public init(schema: Schema, _ instructions: [Instruction] = []) {
        codec = MessageCodec(schema: schema)
        names = ChangesetNames(schema: schema)
        for instruction in instructions { append(instruction) }
    }

    public var instructionCount: Int { starts.count }

    /// The fields of an upload of this changeset alone.
    public var fieldCount: Int { Self.fieldsAroundInstructions + names.fieldCount + instructionFieldCount }

    /// The upload, the changeset, its number, base and stamp.
    private static let fieldsAroundInstructions = 5

    public mutating func append(_ instruction: Instruction) {
        starts.append(writer.count)
        instructionFieldCount += Self.write(instruction, &names, &writer)
    }

    /// An instruction that was appended; nil for none.
    public func instruction(at position: Int) -> Instruction? {
        let bytes: [UInt8]
        if let replacement = replacements[position] {
            bytes = replacement.bytes
        } else {
            bytes = Array(writer.bytes[range(of: position)])
        }
        // A changeset with this one instruction.
        guard let message = try? WireChangeset(serializedBytes: bytes).instructions.first else { return nil }
        return try? codec.decode(message, names.resolved(codec))
    }

    /// Puts an instruction in the place of another one.
    public mutating func replace(at position: Int, with instruction: Instruction) {
        guard let earlier = self.instruction(at: position) else { return }
        var replacement = WireWriter()
        var replaced = WireWriter()
        instructionFieldCount += Self.write(instruction, &names, &replacement) - Self.write(earlier, &names, &replaced)
        replacements[position] = replacement
    }

    /// The changeset's bytes. Nothing can be appended afterwards.
    public consuming func finish(number: Int64, base: Int64, stamp: Stamp) -> [UInt8] {
        var head = WireWriter()
        head.field(1, ifNotZero: number)
        head.field(2, ifNotZero: base)
        head.field(3, ifNotZero: stamp.microseconds)
        names.write(to: &head)
        guard !replacements.isEmpty else {
            writer.prepend(head)
            return writer.bytes
        }
        var position = 0
        for (index, replacement) in replacements.sorted(by: { $0.key < $1.key }) {
            let range = range(of: index)
            head.append(writer.bytes[position..<range.lowerBound])
            head.append(replacement.bytes[...])
            position = range.upperBound
        }
        head.append(writer.bytes[position...])
        return head.bytes
    }

    private func range(of position: Int) -> Range<Int> {
        starts[position]..<(position + 1 < starts.count ? starts[position + 1] : writer.count)
    }

    // MARK: Instructions. Their writers say how many fields they wrote, as ``fieldCount`` counts them.

    private static func write(
        _ instruction: Instruction, _ names: inout ChangesetNames, _ writer: inout WireWriter
    ) -> Int {
        let reference = instruction.reference
        let start = writer.open(5)
        let position = names.position(ofClass: reference.classIndex)
        writer.field(1, ifNotZero: position)
        writer.field(2, reference.key)
        // The instruction, its class unless that is the first one, the key and the operation.
        var fieldCount = position == 0 ? 3 : 4
        switch instruction {
        case .create(_, let fields): fieldCount += write(fields, 3, position, &names, &writer)
        case .set(_, let fields): fieldCount += write(fields, 4, position, &names, &writer)
        case .add(_, let column, let amount):
            let addition = writer.open(5)
            writer.field(1, ifNotZero: names.position(ofColumn: column, inClassAt: position))
            writer.field(2, ifNotZero: amount)
            writer.close(addition)
        case .erase:
            writer.key(6, .varint)
            writer.varint(1)
        }
        writer.close(start)
        return fieldCount
    }

    private static func write(
        _ fields: [FieldWrite], _ number: UInt8, _ position: Int, _ names: inout ChangesetNames,
        _ writer: inout WireWriter
    ) -> Int {
        let start = writer.open(number)
        defer { writer.close(start) }
        if fields.isEmpty { return 0 }
        var defaults: [UInt8] = []
        let columns = writer.open(1)
        for (index, field) in fields.enumerated() {
            writer.varint(UInt64(names.position(ofColumn: field.column, inClassAt: position)))
            if field.isDefault {
                while defaults.count <= index >> 3 { defaults.append(0) }
                defaults[index >> 3] |= 1 << UInt8(index & 7)
            }
        }
        writer.close(columns)
        for field in fields { writer.field(2, field.value) }
        if !defaults.isEmpty { writer.field(3, defaults) }
        return 1 + fields.count + (defaults.isEmpty ? 0 : 1)
    }
}

/// The names that a changeset uses, each class and property once, in the order of their first use.
private struct ChangesetNames {
    let schema: Schema
    private var classes: [NamedClass] = []
    /// By class position in the schema: its position here, or -1.
    private var positions: [Int]

    private struct NamedClass {
        let index: Int
        var columns: [Int] = []
        /// By column: its position in `columns`, or -1.
        var positions: [Int]
    }

    init(schema: Schema) {
        self.schema = schema
        positions = Array(repeating: -1, count: schema.classes.count)
    }

    mutating func position(ofClass index: Int) -> Int {
        if positions[index] >= 0 { return positions[index] }
        positions[index] = classes.count
        classes.append(
            NamedClass(index: index, positions: Array(repeating: -1, count: schema[index].columns.count)))
        return classes.count - 1
    }

    mutating func position(ofColumn column: Int, inClassAt position: Int) -> Int {
        let known = classes[position].positions[column]
        if known >= 0 { return known }
        let next = classes[position].columns.count
        classes[position].positions[column] = next
        classes[position].columns.append(column)
        return next
    }

    /// The field of each class, its name and those of its properties.
    var fieldCount: Int { classes.reduce(0) { $0 + 2 + $1.columns.count } }

    func write(to writer: inout WireWriter) {
        for item in classes {
            let start = writer.open(4)
            let definition = schema[item.index]
            if !definition.name.isEmpty { writer.field(1, definition.name) }
            for column in item.columns { writer.field(2, definition.columns[column].name) }
            writer.close(start)
        }
    }

    func resolved(_ codec: MessageCodec) -> [MessageCodec.ResolvedClass] {
        var result: [MessageCodec.ResolvedClass] = []
        for item in classes {
            // Synced classes have keys.
            guard let key = schema[item.index].primaryKey else { return [] }
            result.append(MessageCodec.ResolvedClass(index: item.index, columns: item.columns, key: key))
        }
        return result
    }
}
