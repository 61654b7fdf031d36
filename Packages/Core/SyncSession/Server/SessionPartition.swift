public import TomboloChangesets
public import TomboloModel

/// The session's partition. The device has only the objects whose partition column has this value.
public struct SessionPartition: Hashable, Sendable {
    public let value: Value
    /// The partition column of each class, by class position, without element classes. Classes without such a column
    /// aren't synchronised.
    public let columns: [Int: Int]

    public init(value: Value, columns: [Int: Int]) {
        self.value = value
        self.columns = columns
    }

    /// The changeset with the partition filled into each new object whose app left it empty, that is, nil or the type's zero.
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
