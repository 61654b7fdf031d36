internal import SwiftProtobuf
public import TomboloChangesets
public import TomboloModel

/// Writes a changeset's bytes one instruction at a time, so that a large changeset never exists as instructions in
/// memory. The bytes equal those of ``MessageCodec/encode(_:)-(Changeset)``.
public struct ChangesetWriter: Sendable {
    private let codec: MessageCodec
    private var names: ChangesetNames
    private var writer = WireWriter()
    /// The start of each instruction in the bytes.
    private var starts: [Int] = []
    /// Replaced instructions, by position.
    private var replacements: [Int: WireWriter] = [:]

    /// The number of fields in the instructions, counted like ``MessageCodec/maximumFieldCount``.
    private var instructionFieldCount = 0

    /// Starts with the given instructions, whose positions refer to `schema`.
    public init(schema: Schema, _ instructions: [Instruction] = []) {
        codec = MessageCodec(schema: schema)
        names = ChangesetNames(schema: schema)
        for instruction in instructions { append(instruction) }
    }

    /// The number of instructions appended so far.
    public var instructionCount: Int { starts.count }

    /// The number of fields in an upload that has only this changeset.
    public var fieldCount: Int { Self.fieldsAroundInstructions + names.fieldCount + instructionFieldCount }

    /// One each for the upload, the changeset, and the changeset's number, base and stamp.
    private static let fieldsAroundInstructions = 5

    /// Appends an instruction, which must fit the schema.
    public mutating func append(_ instruction: Instruction) {
        starts.append(writer.count)
        instructionFieldCount += Self.write(instruction, &names, &writer)
    }

    /// The appended instruction at a position, or nil if there is none.
    public func instruction(at position: Int) -> Instruction? {
        let bytes: [UInt8]
        if let replacement = replacements[position] {
            bytes = replacement.bytes
        } else {
            bytes = Array(writer.bytes[range(of: position)])
        }
        // These bytes are a changeset that has only this instruction.
        guard let message = try? WireChangeset(serializedBytes: bytes).instructions.first else { return nil }
        return try? codec.decode(message, names.resolved(codec))
    }

    /// Replaces the instruction at a position.
    public mutating func replace(at position: Int, with instruction: Instruction) {
        guard let earlier = self.instruction(at: position) else { return }
        var replacement = WireWriter()
        var replaced = WireWriter()
        instructionFieldCount += Self.write(instruction, &names, &replacement) - Self.write(earlier, &names, &replaced)
        replacements[position] = replacement
    }

    /// The changeset's bytes. Consumes the writer.
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

    // MARK: Instructions. Each function returns the number of fields it wrote, counted as in ``fieldCount``.

    private static func write(
        _ instruction: Instruction, _ names: inout ChangesetNames, _ writer: inout WireWriter
    ) -> Int {
        let reference = instruction.reference
        let start = writer.open(5)
        let position = names.position(ofClass: reference.classIndex)
        writer.field(1, ifNotZero: position)
        writer.field(2, reference.key)
        // One each for the instruction, its class (unless it's the first), the key and the operation.
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

/// The class and property names that a changeset uses, each once, in order of first use.
private struct ChangesetNames {
    let schema: Schema
    private var classes: [NamedClass] = []
    /// For each class position in the schema, the class's position here, or -1.
    private var positions: [Int]

    private struct NamedClass {
        let index: Int
        var columns: [Int] = []
        /// For each column, its position in `columns`, or -1.
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

    /// For each class: its field, its name and its properties' names.
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
            // Synced classes always have primary keys.
            guard let key = schema[item.index].primaryKey else { return [] }
            result.append(MessageCodec.ResolvedClass(index: item.index, columns: item.columns, key: key))
        }
        return result
    }
}
