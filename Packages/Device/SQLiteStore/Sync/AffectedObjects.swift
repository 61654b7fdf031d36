internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

/// The objects that a batch is about: those that its frame names, and those that the changesets wrote whose outcome it
/// brings.
///
/// What is queued for other objects stays as it is, since an object's row depends on nothing but the server's row and the
/// queued instructions on it. That isn't so with lists, whose elements come and go with their object, and with links, which
/// read as nil while their target is missing. A batch about classes with either rebases everything.
struct AffectedObjects {
    /// By class position.
    private(set) var keys: [Set<Value>]

    /// Nil if everything has to be rebased.
    init?(layout: FileLayout, schema: Schema, frame: BatchFrame?, queue: ChangesetQueue, acknowledged: Int64) throws {
        keys = Array(repeating: [], count: layout.tables.count)
        let isIndependent = layout.tables.map { table in
            table.schema.primaryKeyIndex != nil && table.schema.owner == nil && table.elementClasses.isEmpty
                && layout.links[table.classIndex].isEmpty
        }
        for block in frame?.blocks ?? [] {
            guard isIndependent[block.classIndex] else { return nil }
            for row in 0..<block.rowCount { keys[block.classIndex].insert(block.key(row: row, schema: schema)) }
        }
        for removal in frame?.removals ?? [] {
            guard isIndependent[removal.classIndex] else { return nil }
            keys[removal.classIndex].formUnion(removal.keys)
        }
        var areIndependent = true
        try queue.forEach(upTo: acknowledged) { changeset in
            for instruction in changeset.instructions {
                let reference = instruction.reference
                areIndependent = areIndependent && isIndependent[reference.classIndex]
                keys[reference.classIndex].insert(reference.key)
            }
        }
        guard areIndependent, keys.reduce(0, { $0 + $1.count }) <= RebasedRows.maximumCount else { return nil }
    }

    func contains(_ reference: ObjectReference) -> Bool { keys[reference.classIndex].contains(reference.key) }
}
