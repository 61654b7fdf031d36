public import TomboloModel

/// Values that a device gets in place of the server's. Columns and lists that its user can't read are empty, and nil
/// becomes a zero where the device's app version knows a property as required.
public struct ColumnMask: Hashable, Sendable {
    /// By class position: the columns that become nil, or the zero of a required property.
    public var hidden: [Int: Set<Int>]
    /// The element classes of lists that are empty on the device although it has the objects that own them.
    public var hiddenLists: Set<Int>
    /// By class position: the columns in which nil becomes the type's zero.
    public var required: [Int: Set<Int>]

    public init(
        hidden: [Int: Set<Int>] = [:], hiddenLists: Set<Int> = [], required: [Int: Set<Int>] = [:]
    ) {
        self.hidden = hidden
        self.hiddenLists = hiddenLists
        self.required = required
    }

    /// Leaves every value unchanged.
    public static let none = ColumnMask()

    /// Replaces the values in a frame that the device mustn't or can't have.
    public func apply(to frame: BatchFrame, schema: Schema) -> BatchFrame {
        guard self != .none else { return frame }
        var frame = frame
        if !hiddenLists.isEmpty {
            frame.blocks.removeAll { hiddenLists.contains($0.classIndex) }
            frame.removals.removeAll { hiddenLists.contains($0.classIndex) }
        }
        for index in frame.blocks.indices {
            let block = frame.blocks[index]
            for (position, column) in block.columns.enumerated() {
                let isHidden = hidden[block.classIndex]?.contains(column) == true
                let isRequired = required[block.classIndex]?.contains(column) == true
                guard isHidden || isRequired else { continue }
                let definition = schema[block.classIndex].columns[column]
                let type = schema.storedType(of: definition)
                let substitute = isHidden && definition.isOptional && !isRequired ? Value.null : type.zero
                var vector = ColumnVector(type: type)
                for row in 0..<block.rowCount {
                    let replaces = isHidden || block.vectors[position].isNull(row)
                    vector.append(replaces ? substitute : block.vectors[position].value(row, as: type))
                }
                frame.blocks[index].vectors[position] = vector
            }
        }
        return frame
    }
}
