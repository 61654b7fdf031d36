internal import TomboloModel

/// Objects of other Realms that one `create` copies.
struct ForeignCopies {
    private struct Source: Hashable {
        let core: ObjectIdentifier
        let reference: ObjectReference
    }

    private var known: Set<Source> = []
    /// Linked to by what was copied already, and still to be copied.
    var waiting: [Object] = []

    /// - Returns: whether the object is met for the first time.
    mutating func note(_ row: ManagedRow) -> Bool {
        known.insert(Source(core: ObjectIdentifier(row.core), reference: row.reference)).inserted
    }
}
