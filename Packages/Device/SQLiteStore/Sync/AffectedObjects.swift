internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

/// The objects that a batch is about: those that its frames name, and those that the changesets wrote whose outcome it
/// brings.
///
/// What is queued for other objects stays as it is, since an object's row depends on nothing but the server's row and the
/// queued instructions on it. That isn't so with lists, whose elements come and go with their object, and with links, which
/// read as nil while their target is missing. A batch about classes with either rebases everything.
struct AffectedObjects {
    /// By class position.
    private(set) var keys: [Set<Value>]
    /// Those that the frame names more than once.
    private var repeated: Set<ObjectReference> = []

    /// With more objects than this everything is rebased.
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

    /// Whether the frame names an object once, if at all.
    func isNamedOnce(_ reference: ObjectReference) -> Bool { !repeated.contains(reference) }

    /// The object needs nothing.
    mutating func remove(_ reference: ObjectReference) { keys[reference.classIndex].remove(reference.key) }

    func contains(where condition: (ObjectReference) -> Bool) -> Bool {
        keys.enumerated().contains { classIndex, keys in
            keys.contains { condition(ObjectReference(classIndex: classIndex, key: $0)) }
        }
    }

    func contains(_ reference: ObjectReference) -> Bool { keys[reference.classIndex].contains(reference.key) }
}
