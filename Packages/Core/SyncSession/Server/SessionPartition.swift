public import TomboloChangesets
public import TomboloModel

/// The partition that a session is in: the device has the objects whose key column has the value, and no others.
public struct SessionPartition: Hashable, Sendable {
    public let value: Value
    /// The column that tells an object's partition, by the position of a class that isn't an element class. Classes
    /// without one aren't synchronised.
    public let columns: [Int: Int]

    public init(value: Value, columns: [Int: Int]) {
        self.value = value
        self.columns = columns
    }

    /// The changeset with the partition in every new object whose app left it empty: nil, or the zero of its type.
    public func completing(_ changeset: Changeset, in schema: Schema) -> Changeset {
        guard !value.isNull else { return changeset }
        var result = changeset
        result.instructions = changeset.instructions.map { complete($0, in: schema) }
        return result
    }

    private func complete(_ instruction: Instruction, in schema: Schema) -> Instruction {
        guard case .create(let reference, var fields) = instruction, let column = columns[reference.classIndex] else {
            return instruction
        }
        let zero = schema.storedType(of: schema[reference.classIndex].columns[column]).zero
        guard let index = fields.firstIndex(where: { $0.column == column }) else {
            return .create(reference, fields + [FieldWrite(column: column, value: value)])
        }
        guard fields[index].value.isNull || fields[index].value == zero else { return instruction }
        fields[index] = FieldWrite(column: column, value: value)
        return .create(reference, fields)
    }
}
