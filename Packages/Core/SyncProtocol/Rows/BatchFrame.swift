public import TomboloModel

/// A part of a batch: as much as fits one message. The device stages it and applies the batch as a whole.
public struct BatchFrame: Hashable, Sendable {
    /// Position in its batch, from 0.
    public var sequence: Int
    public var blocks: [RowBlock]
    /// Objects that leave the device: erased, trashed, or no longer matched. Their list elements go with them.
    public var removals: [ObjectRemoval]
    /// Objects of the whole batch, for progress; 0 where unknown.
    public var totalObjects: Int
    /// Objects in this and the earlier frames.
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

    public var isEmpty: Bool { blocks.isEmpty && removals.isEmpty }
}

/// Keys of one class that leave the device.
public struct ObjectRemoval: Hashable, Sendable {
    public let classIndex: Int
    public var keys: [Value]

    public init(classIndex: Int, keys: [Value]) {
        self.classIndex = classIndex
        self.keys = keys
    }
}
