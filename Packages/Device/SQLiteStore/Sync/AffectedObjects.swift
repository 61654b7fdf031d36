internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

/// The objects that a batch affects: those that its frames name, and those written by the changesets whose outcome it
/// contains.
///
/// Queued edits of other objects don't have to be replayed, because an object's row depends only on the server's row
/// and the queued instructions on it. There are two exceptions: list elements are created and deleted with their
/// object, and links read as nil while their target is missing. So a batch that concerns classes with lists, list
/// elements or incoming links rebases everything.
struct AffectedObjects {
    /// By class position.
    private(set) var keys: [Set<Value>]
    /// Objects that the frames name more than once.
    private var repeated: Set<ObjectReference> = []

    /// With more objects than this, everything is rebased.
    static let maximumCount = 20_000

    /// Nil if everything has to be rebased.
    init?(layout: FileLayout, schema: Schema, frames: [BatchFrame], queue: ChangesetQueue, acknowledged: Int64) throws {
        keys = Array(repeating: [], count: layout.tables.count)
        let isIndependent = layout.tables.map { table in
            table.schema.primaryKeyIndex != nil && table.schema.owner == nil && table.elementClasses.isEmpty
                && layout.links[table.classIndex].isEmpty
        }
        for block in frames.flatMap(\.blocks) {
            guard isIndependent[block.classIndex] else { return nil }
            for row in 0..<block.rowCount { name(block.key(row: row, schema: schema), block.classIndex) }
        }
        for removal in frames.flatMap(\.removals) {
            guard isIndependent[removal.classIndex] else { return nil }
            for key in removal.keys { name(key, removal.classIndex) }
        }
        var areIndependent = true
        try queue.forEach(upTo: acknowledged) { changeset in
            for instruction in changeset.instructions {
                let reference = instruction.reference
                areIndependent = areIndependent && isIndependent[reference.classIndex]
                keys[reference.classIndex].insert(reference.key)
            }
        }
        guard areIndependent, count <= Self.maximumCount else { return nil }
    }

    private mutating func name(_ key: Value, _ classIndex: Int) {
        if !keys[classIndex].insert(key).inserted {
            repeated.insert(ObjectReference(classIndex: classIndex, key: key))
        }
    }

    var count: Int { keys.reduce(0) { $0 + $1.count } }

    /// Whether the frames name an object at most once.
    func isNamedOnce(_ reference: ObjectReference) -> Bool { !repeated.contains(reference) }

    /// Removes an object that needs no work.
    mutating func remove(_ reference: ObjectReference) { keys[reference.classIndex].remove(reference.key) }

    func contains(where condition: (ObjectReference) -> Bool) -> Bool {
        keys.enumerated().contains { classIndex, keys in
            keys.contains { condition(ObjectReference(classIndex: classIndex, key: $0)) }
        }
    }

    func contains(_ reference: ObjectReference) -> Bool { keys[reference.classIndex].contains(reference.key) }
}
