public import TomboloModel

/// A part of a batch that fits into one message. The device stages frames and applies the batch as a whole.
public struct BatchFrame: Hashable, Sendable {
    /// The frame's position in its batch, starting at 0.
    public var sequence: Int
    /// Rows to insert or update.
    public var blocks: [RowBlock]
    /// Objects that leave the device because they were erased, moved into the trash, or no longer match. Their list
    /// elements leave with them.
    public var removals: [ObjectRemoval]
    /// The number of objects in the whole batch, for progress; 0 if unknown.
    public var totalObjects: Int
    /// The number of objects in this and all earlier frames.
    public var objectsSoFar: Int

    public init(
        sequence: Int, blocks: [RowBlock] = [], removals: [ObjectRemoval] = [], totalObjects: Int = 0,
        objectsSoFar: Int = 0
    ) {
        self.sequence = sequence
        self.blocks = blocks
        self.removals = removals
        self.totalObjects = totalObjects
        self.objectsSoFar = objectsSoFar
    }

    /// Whether the frame changes nothing.
    public var isEmpty: Bool { blocks.isEmpty && removals.isEmpty }
}

/// Objects of one class that leave the device.
public struct ObjectRemoval: Hashable, Sendable {
    public let classIndex: Int
    /// The objects' primary keys.
    public var keys: [Value]

    public init(classIndex: Int, keys: [Value]) {
        self.classIndex = classIndex
        self.keys = keys
    }
}
