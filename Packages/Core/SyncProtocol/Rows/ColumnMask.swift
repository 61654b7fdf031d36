public import TomboloModel

/// Values that a device gets in place of the server's: nothing of columns and lists that its user may not read, and a zero
/// in place of nil where its version of the app knows a property as required.
public struct ColumnMask: Hashable, Sendable {
    /// By class position: columns whose values are nil, or the zero of a required property.
    public var hidden: [Int: Set<Int>]
    /// The element classes of lists that are empty on the device although it has their objects.
    public var hiddenLists: Set<Int>
    /// By class position: columns in which nil becomes the zero of the type.
    public var required: [Int: Set<Int>]

    public init(
        hidden: [Int: Set<Int>] = [:], hiddenLists: Set<Int> = [], required: [Int: Set<Int>] = [:]
    ) {
        self.hidden = hidden
        self.hiddenLists = hiddenLists
        self.required = required
    }

    /// Every value as it is.
    public static let none = ColumnMask()

    /// A frame as the device may have it.
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
