internal import Foundation
internal import TomboloChangesets
internal import TomboloModel

extension MessageCodec {
    /// Reads a changeset one instruction at a time. The caller has checked the shape of its bytes.
    func decodeChangeset(_ bytes: [UInt8], _ range: Range<Int>) throws(ProtocolError) -> Changeset {
        let (changeset, instructionCount) = try decodeHead(bytes, range)
        do throws(ProtocolError) {
            guard changeset.number > 0, changeset.base >= 0 else {
                throw ProtocolError(.malformed, "number and base must not be negative, and numbers start at 1")
            }
            let classes = try resolve(changeset.classes)
            var instructions: [Instruction] = []
            instructions.reserveCapacity(min(instructionCount, range.count / Self.minimumInstructionByteCount))
            try forEachInstruction(bytes, range) { item throws(ProtocolError) in
                instructions.append(try decode(item, classes))
            }
            var result = Changeset(
                number: changeset.number, base: changeset.base,
                stamp: Stamp(microseconds: changeset.stampMicroseconds), instructions: instructions)
            result.traceparent = Self.traceparent(changeset.traceparent)
            return result
        } catch {
            throw error.at("changeset \(changeset.number)")
        }
    }

    /// The trace of a changeset, or nil if it's invalid. An invalid trace must never cause a changeset to be refused.
    static func traceparent(_ text: String) -> String? {
        text.isEmpty || text.utf8.count > maximumTraceparentByteCount ? nil : text
    }

    /// Reads everything in a changeset except the instructions, and counts these. They depend on the rest and may precede it.
    func decodeHead(
        _ bytes: [UInt8], _ range: Range<Int>
    ) throws(ProtocolError) -> (changeset: WireChangeset, instructionCount: Int) {
        var head: [UInt8] = []
        var instructionCount = 0
        var reader = WireReader(bytes, in: range)
        while let field = reader.field() {
            if field.key == Self.instructionKey {
                instructionCount += 1
            } else {
                head += bytes[field.start..<field.content.upperBound]
            }
        }
        return (try Self.build(head, "changeset"), instructionCount)
    }

    /// Builds the instructions of a changeset one after the other. An error says which one was wrong.
    func forEachInstruction(
        _ bytes: [UInt8], _ range: Range<Int>, _ body: (WireInstruction) throws(ProtocolError) -> Void
    ) throws(ProtocolError) {
        var index = 0
        var reader = WireReader(bytes, in: range)
        while let field = reader.field() {
            guard field.key == Self.instructionKey else { continue }
            do throws(ProtocolError) {
                try body(try Self.build(Array(bytes[field.content]), "instruction"))
            } catch {
                throw error.at("instruction \(index)")
            }
            index += 1
        }
    }

    /// The minimum size of an instruction with a key and an operation.
    private static let minimumInstructionByteCount = 8
    /// The field that holds a changeset's instructions.
    private static let instructionKey = WireReader.Key(number: 5, type: .bytes)

    struct ResolvedClass {
        let index: Int
        let columns: [Int]
        let key: Column
    }

    private func resolve(_ classes: [WireChangesetClass]) throws(ProtocolError) -> [ResolvedClass] {
        var result: [ResolvedClass] = []
        for item in classes {
            let index = try classIndex(item.name)
            guard let key = schema[index].primaryKey else {
                throw ProtocolError(.badSchema, "\(item.name) has no primary key and isn't synchronised")
            }
            var columns: [Int] = []
            for name in item.columns { columns.append(try column(name, of: schema[index])) }
            result.append(ResolvedClass(index: index, columns: columns, key: key))
        }
        return result
    }

    func decode(_ item: WireInstruction, _ classes: [ResolvedClass]) throws(ProtocolError) -> Instruction {
        guard item.classPosition < classes.count else {
            throw ProtocolError(.malformed, "class \(item.classPosition) of \(classes.count)")
        }
        let resolved = classes[Int(item.classPosition)]
        let key = try decode(item.key)
        do {
            try resolved.key.validate(key)
        } catch {
            throw ProtocolError(.badSchema, "the key of a \(schema[resolved.index].name): \(error.message)")
        }
        let reference = ObjectReference(classIndex: resolved.index, key: key)
        switch item.operation {
        case nil: throw ProtocolError(.malformed, "an instruction of unknown kind")
        case .create(let fields): return .create(reference, try decode(fields, resolved))
        case .set(let fields): return .set(reference, try decode(fields, resolved))
        case .add(let addition):
            return .add(
                reference, column: try columnPosition(addition.column, resolved), amount: addition.amount)
        case .erase(let isErase):
            guard isErase else { throw ProtocolError(.malformed, "an erase whose value is false") }
            return .erase(reference)
        }
    }

    private func decode(_ fields: WireFieldWrites, _ resolved: ResolvedClass) throws(ProtocolError) -> [FieldWrite] {
        guard fields.columns.count == fields.values.count else {
            throw ProtocolError(.malformed, "\(fields.values.count) values for \(fields.columns.count) properties")
        }
        let defaults = [UInt8](fields.defaults)
        var result: [FieldWrite] = []
        result.reserveCapacity(fields.columns.count)
        for index in fields.columns.indices {
            let column = try columnPosition(fields.columns[index], resolved)
            do throws(ProtocolError) {
                result.append(
                    FieldWrite(
                        column: column, value: try decode(fields.values[index]),
                        isDefault: index >> 3 < defaults.count && defaults[index >> 3] & (1 << UInt8(index & 7)) != 0))
            } catch {
                let item = schema[resolved.index]
                throw error.at("\(item.name).\(item.columns[column].name)")
            }
        }
        return result
    }

    private func columnPosition(_ position: UInt32, _ resolved: ResolvedClass) throws(ProtocolError) -> Int {
        guard position < resolved.columns.count else {
            throw ProtocolError(
                .malformed,
                "property \(position) of the \(resolved.columns.count) named for "
                    + schema[resolved.index].name)
        }
        return resolved.columns[Int(position)]
    }
}
